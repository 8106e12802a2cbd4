/** See built-service.mjs. */
export function copyBuiltService(): string | undefined;

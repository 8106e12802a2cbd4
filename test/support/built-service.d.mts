/** Copies the built service, and returns the copy's main file (see built-service.mjs). */
export function copyBuiltService(): string | undefined;

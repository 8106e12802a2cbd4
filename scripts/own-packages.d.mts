/** See own-packages.mjs. */
export function installOwnPackages(folder: string, whose: string, limit?: number): string | undefined;

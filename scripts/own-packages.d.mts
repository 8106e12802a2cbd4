/** Installs the packages of a folder with its own lock (see own-packages.mjs). */
export function installOwnPackages(folder: string, whose: string, limit?: number): string | undefined;

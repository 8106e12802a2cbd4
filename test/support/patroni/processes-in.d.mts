/** See processes-in.mjs. */
export function processesIn(folder: string): number[];

/** Returns the ids of the processes that work in a folder (see processes-in.mjs). */
export function processesIn(folder: string): number[];

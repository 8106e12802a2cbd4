import { start } from './bootstrap.js';

/** Settles once the process does what it is for; whoever loads the program waits for that. */
export const begun = start(process.argv.slice(2), process.env);

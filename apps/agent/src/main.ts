import { endWithParent } from '#libs/service';
import { start } from './bootstrap.js';

endWithParent();

/** Settles once the process does what it is for; whoever loads the program waits for that. */
export const begun = start(process.argv.slice(2), process.env);

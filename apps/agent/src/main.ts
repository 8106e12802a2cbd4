import { endWithParent } from '#libs/service';
import { start } from './bootstrap.js';

endWithParent();

/** Settles once the agent serves, or has failed to start; the loader of the program waits for it. */
export const begun = start(process.argv.slice(2), process.env);

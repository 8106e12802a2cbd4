import { endWithParent } from '#libs/service';
import { startFromArguments } from './bootstrap.js';

endWithParent();

/** Settles once the agent serves, or has failed to start; the loader of the program waits for it. */
export const begun = startFromArguments(process.argv.slice(2), process.env);

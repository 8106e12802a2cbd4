import { endWithParent } from '#libs/service';
import { startFromArguments } from './bootstrap.js';

endWithParent();

/** Promise that settles once the agent is ready, or has failed to start. The loader of the program waits for it. */
export const begun = startFromArguments(process.argv.slice(2), process.env);

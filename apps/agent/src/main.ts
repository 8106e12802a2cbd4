import { endWithParent } from '#libs/service';
import { startFromArguments } from './bootstrap.js';

endWithParent();

/**
 * Promise that resolves once the agent is ready, or its help text is printed. A failed start ends the process instead.
 * The launcher of the package (scripts/bundle-scripts.mjs) awaits the promise.
 */
export const begun = startFromArguments(process.argv.slice(2), process.env);

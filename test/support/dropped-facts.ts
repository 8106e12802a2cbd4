import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const DROP = pathToFileURL(resolve(import.meta.dirname, 'dropped-facts.mjs')).href;

/** Environment of a service whose event emitter drops every emission. */
export const DROPS_FACTS = { NODE_OPTIONS: `--import=${DROP}`, NODE_DISABLE_COMPILE_CACHE: '1' };

/** True if all services of the tests drop their facts, which checks that no promise depends on a fact. */
export const areFactsDropped = process.env.PARLEY_TEST_DROPPED_FACTS !== undefined;

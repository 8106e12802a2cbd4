/**
 * Refuses docstrings that begin with a clause if there are more of them than recorded (scripts/house/recorded.json).
 * Prints the new ones, and exits with 1 if there are any.
 */
import { measureDocstrings } from './house/measures.mjs';
import { breachesOf } from './house/ratchet.mjs';
import { shippedSources } from './house/sources.mjs';

const breaches = breachesOf(measureDocstrings(shippedSources()), measureDocstrings);
for (const breach of breaches) console.log(breach);
process.exit(breaches.length > 0 ? 1 : 0);

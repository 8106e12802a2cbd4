/**
 * Refuses names of functions and types that are worse than those recorded (scripts/house/recorded.json). Prints the
 * measures and the new places, and exits 1 when there is one.
 */
import { measureNames } from './house/measures.mjs';
import { breachesOf } from './house/ratchet.mjs';
import { shippedSources } from './house/sources.mjs';

const breaches = breachesOf(measureNames(shippedSources()), measureNames);
for (const breach of breaches) console.log(breach);
process.exit(breaches.length > 0 ? 1 : 0);

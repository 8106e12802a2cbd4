import { SeededRandom } from './seeded-random.js';

/**
 * Creates random numbers from the seed in `TEST_SEED`, or from a random one. The seed is printed, so that a failure can
 * be repeated.
 */
export function testRandom(name: string): SeededRandom {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
  process.stderr.write(`${name}: TEST_SEED=${seed}\n`);
  return new SeededRandom(seed);
}

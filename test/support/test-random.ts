import { SeededRandom } from './seeded-random.js';

/** The seed that `TEST_SEED` names, or one by chance; printed, so that a failure can be repeated. */
export function testRandom(name: string): SeededRandom {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
  process.stderr.write(`${name}: TEST_SEED=${seed}\n`);
  return new SeededRandom(seed);
}

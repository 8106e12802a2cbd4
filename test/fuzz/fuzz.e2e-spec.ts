import { freshDatabase } from '../support/postgres.js';
import type { AuthMode } from './options.js';
import { runFuzz } from './run-fuzz.js';

/** Runs for a few seconds what `npm run fuzz` does for a given number of cases. */
describe.each<[AuthMode, number]>([
  ['api-key', 1_200],
  ['none', 300],
  ['jwt', 300],
])('broken requests to every endpoint, AUTH_MODE=%s', (auth, cases) => {
  it('are answered, never with a fault of ours, and leave nothing behind', async () => {
    const database = await freshDatabase();
    const options = { cases, first: 0, seed: 20_26, auth, only: [], workers: 8, pauseLimit: 0 };
    const report = await runFuzz(options, database.url);
    await database.drop();
    if (report.failures.length > 0) process.stderr.write(`${report.details()}\n`);
    expect(report.problems()).toEqual([]);
    expect(report.cases).toBe(cases);
  });
});

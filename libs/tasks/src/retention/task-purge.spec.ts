import { jest } from '@jest/globals';
import type { Database } from '#libs/postgres';
import { FoldMemory } from '../fold/fold-memory.js';
import { TaskPurge } from './task-purge.js';
import { TaskRetention } from './task-retention.js';

afterEach(() => jest.restoreAllMocks());

it('does not rest for as long as its process stood still', async () => {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const query = (): Promise<{ rows: unknown[] }> => {
    now += 3_600_000;
    return Promise.resolve({ rows: [] });
  };
  const database = { tunedPool: () => ({ query }) } as unknown as Database;
  const purge = new TaskPurge(database, new TaskRetention(), new FoldMemory());
  expect(await purge.purgeUntimed(new Date(), new AbortController().signal)).toBe(0);
});

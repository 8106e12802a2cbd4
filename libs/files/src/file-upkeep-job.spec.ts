import type { JobContext, JobHandler } from '#libs/jobs';
import { FileUpkeepJob } from './file-upkeep-job.js';

/** Five batches of keys that are due. */
const KEYS = Array.from({ length: 90 }, (_, index) => String(index).padStart(2, '0'));

function upkeep(discard: (keys: readonly string[]) => Promise<void>): () => Promise<void> {
  let handler: JobHandler<unknown> | undefined;
  const jobs = {
    registerHandler: (_name: string, it: JobHandler<unknown>) => void (handler = it),
    scheduleCron: () => undefined,
  };
  const files = {
    listExpired: async () => [],
    dueLeftovers: async (limit: number, after: string) => KEYS.filter((key) => key > after).slice(0, limit),
  };
  new FileUpkeepJob(jobs as never, files as never, { discardContents: discard } as never);
  const { signal } = new AbortController();
  return async () => handler!.run(undefined, { signal } as JobContext);
}

describe('the upkeep of files', () => {
  it('goes on behind contents that cannot be deleted, and fails at the end', async () => {
    const seen: string[] = [];
    const run = upkeep(async (keys) => {
      seen.push(...keys);
      if (keys.includes('00')) throw new Error('The server answered 403');
    });
    await expect(run()).rejects.toThrow('The server answered 403');
    expect(seen).toEqual(KEYS);
  });

  it('asks a storage that is out of reach no more than three times', async () => {
    let asked = 0;
    const run = upkeep(async () => {
      asked += 1;
      throw new Error('out of reach');
    });
    await expect(run()).rejects.toThrow('out of reach');
    expect(asked).toBe(3);
  });
});

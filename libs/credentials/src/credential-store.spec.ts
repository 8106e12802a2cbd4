import { randomBytes } from 'node:crypto';
import type { Jobs } from '#libs/job-queue';
import type { Job, JobHandler } from '#libs/jobs';
import { SecretBox } from '#libs/postgres';
import { type CredentialStore, SealCredentialsJob } from './credential-store.js';

const [older, newer] = [randomBytes(32), randomBytes(32)];

describe('SealCredentialsJob', () => {
  it('is done where the key seals that sealed at the start which asked for it, and tried again elsewhere', async () => {
    const [before, after] = [replica([older, newer]), replica([newer, older])];
    await after.starts();
    const [job] = after.enqueued;
    await expect(before.does(job)).rejects.toThrow('Another replica');
    expect(before.sealed()).toBe(0);
    await after.does(job);
    expect(after.sealed()).toBe(1);
  });

  it('of an earlier version is done by whoever gets it', async () => {
    const it = replica([newer]);
    await it.does({ name: 'credentials.seal', payload: {} });
    expect(it.sealed()).toBe(1);
  });
});

function replica(keys: readonly Buffer[]) {
  const enqueued: Job[] = [];
  let handler: JobHandler<unknown> | undefined;
  let sealed = 0;
  const jobs = {
    registerHandler: (_name: string, registered: JobHandler<unknown>) => (handler = registered),
    enqueueJobs: async (wanted: readonly Job[]) => void enqueued.push(...wanted),
  } as unknown as Jobs;
  const store = { sealAnew: async () => ((sealed += 1), 0) } as unknown as CredentialStore;
  const job = new SealCredentialsJob(jobs, store, new SecretBox(keys));
  const context = { signal: new AbortController().signal, attempt: 1, last: false };
  return {
    enqueued,
    sealed: () => sealed,
    starts: () => job.onApplicationBootstrap(),
    /** Runs the job's handler. The payload is converted to JSON and back, as the database does. */
    does: async (wanted: Job | undefined) => {
      const payload: unknown = JSON.parse(JSON.stringify(wanted?.payload));
      await handler?.run(handler.read(payload), context);
    },
  };
}

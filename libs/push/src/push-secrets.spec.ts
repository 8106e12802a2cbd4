import { randomBytes } from 'node:crypto';
import type { SigningKeys } from '#libs/http-server';
import type { Jobs } from '#libs/job-queue';
import type { Job, JobHandler } from '#libs/jobs';
import { type Database, SecretBox } from '#libs/postgres';
import { type PushSecretBox, SealSecretsJob } from './push-secrets.js';

const [older, newer] = [randomBytes(32), randomBytes(32)];
const CONTEXT = { signal: new AbortController().signal, attempt: 1, last: false };

it('seals where the key seals that sealed at the start which asked for it, and is tried again elsewhere', async () => {
  const [before, after] = [replica([older, newer]), replica([newer, older])];
  await after.job.onApplicationBootstrap();
  const payload: unknown = JSON.parse(JSON.stringify(after.enqueued[0]?.payload));
  await expect(before.does(payload)).rejects.toThrow('Another replica');
  expect(before.sealed()).toBe(0);
  await after.does(payload);
  expect(after.sealed()).toBe(1);
});

function replica(keys: readonly Buffer[]) {
  const enqueued: Job[] = [];
  let handler: JobHandler<unknown> | undefined;
  let sealed = 0;
  const jobs = {
    registerHandler: (_name: string, registered: JobHandler<unknown>) => (handler = registered),
    enqueueJobs: async (wanted: readonly Job[]) => void enqueued.push(...wanted),
  } as unknown as Jobs;
  const database = { pool: { query: async () => ({ rows: [] }) } } as unknown as Database;
  const signing = { sealAnew: async () => void (sealed += 1) } as unknown as SigningKeys;
  const job = new SealSecretsJob(database, jobs, new SecretBox(keys), {} as PushSecretBox, signing);
  return {
    enqueued,
    job,
    sealed: () => sealed,
    does: async (payload: unknown) => handler?.run(handler.read(payload), CONTEXT),
  };
}

import type { Jobs } from '#libs/job-queue';
import { type JobHandler, PermanentJobError } from '#libs/jobs';
import type { Database } from '#libs/postgres';
import { MAX_CONFIGS, PostgresPushConfigs } from './postgres-push-configs.js';

let task: { state: string; last_sequence: number } | Error | undefined;
let others: number;
let register: () => Promise<void>;

beforeEach(() => {
  task = { state: 'TASK_STATE_WORKING', last_sequence: 1 };
  others = 0;
  const query = async (sql: string): Promise<object> => {
    if (sql.includes('FOR NO KEY UPDATE') && task instanceof Error) throw task;
    if (sql.includes('FOR NO KEY UPDATE')) return { rows: task ? [task] : [] };
    return sql.includes('count(*)') ? { rows: [{ others }] } : { rows: [], rowCount: 0 };
  };
  const pool = {
    query,
    connect: async () => ({ query, on: () => undefined, off: () => undefined, release: () => undefined }),
  };
  const payload = { taskId: 't', scope: { tenant: '', owner: '' }, config: { id: 'c', url: 'https://web.hook/' } };
  const jobs = {
    registerHandler: (_name: string, { read, run }: JobHandler<unknown>) => {
      register = () => run(read(payload), {} as never);
    },
  };
  new PostgresPushConfigs(
    { pool } as unknown as Database,
    { makeDue: async () => undefined, announceDue: () => undefined } as never,
    jobs as unknown as Jobs,
    {} as never,
    { sealSecrets: () => null } as never,
    { purgeWith: () => undefined } as never,
  );
});

describe('the job that registers a config once more', () => {
  it('does so', async () => {
    await expect(register()).resolves.toBeUndefined();
  });

  it('is not tried again where the Task is gone, or has its configs', async () => {
    others = MAX_CONFIGS;
    await expect(register()).rejects.toBeInstanceOf(PermanentJobError);
    task = undefined;
    await expect(register()).rejects.toBeInstanceOf(PermanentJobError);
  });

  it('is tried again after anything else', async () => {
    task = new Error('Connection terminated');
    await expect(register()).rejects.toBe(task);
  });
});

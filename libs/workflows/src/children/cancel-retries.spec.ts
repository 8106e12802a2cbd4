import type { AgentCallOptions, AgentDirectory, CancelOutcome } from '#libs/a2a-client';
import type { ServiceAddress } from '#libs/http-server';
import type { Jobs } from '#libs/job-queue';
import type { JobContext, JobHandler } from '#libs/jobs';
import { Metrics } from '#libs/service';
import { type ChildCancel, createCancelJob, type LaterOutcome, readChildCancel } from '#libs/workflow-engine';
import type { CancelOutcomes } from '../storage/postgres-run-stores.js';
import { CancelRetries } from './cancel-retries.js';

const OWN: ChildCancel = {
  runId: 'run-1',
  node: 'a',
  attempt: 1,
  taskId: 'task-of-a',
  agentUrl: 'http://replica-that-is-gone/a2a/workflows/wf/nodes/a',
  workflow: 'wf',
  revision: '3',
  scope: { tenant: '', owner: 'ann' },
  until: new Date(Date.now() + 600_000).toISOString(),
};

let asked: { url: string; taskId: string; options: AgentCallOptions | undefined }[];
let kept: LaterOutcome[];
let answer: CancelOutcome | Promise<CancelOutcome>;
let cancel: (payload: unknown, last?: boolean) => Promise<void>;

beforeEach(() => {
  asked = [];
  kept = [];
  answer = 'acknowledged';
  let handler: JobHandler<ChildCancel> | undefined;
  const jobs = { registerHandler: (_name: string, added: JobHandler<ChildCancel>) => (handler = added) };
  const directory = {
    resolveClient: async (url: string) => ({
      cancelTask: async (taskId: string, options?: AgentCallOptions) => {
        asked.push({ url, taskId, options });
        return answer;
      },
    }),
  };
  const outcomes = {
    listOutcomes: async () => kept,
    recordOutcome: async (outcome: LaterOutcome) => void kept.push(outcome),
  };
  new CancelRetries(
    jobs as unknown as Jobs,
    new Metrics(),
    directory as unknown as AgentDirectory,
    outcomes as unknown as CancelOutcomes,
    { internalUrl: 'http://here' } as ServiceAddress,
  );
  const context = (last: boolean) => ({ last, signal: new AbortController().signal }) as JobContext;
  cancel = async (payload, last = false) => handler?.run(readChildCancel(payload), context(last));
});

describe('a cancel that is tried again', () => {
  it('asks a node of its own at this replica, in the revision of the run, which the newest may not have', async () => {
    await cancel(OWN);
    expect(asked).toMatchObject([{ taskId: 'task-of-a', options: { scope: OWN.scope, revision: '3' } }]);
    expect(asked[0]?.url).toMatch(/^http:\/\/here\/.*\/wf\/.*a$/);
    expect(kept).toEqual([{ runId: 'run-1', node: 'a', attempt: 1, outcome: 'acknowledged' }]);
  });

  it('names the credential and the protocol of an agent elsewhere', async () => {
    const { workflow: _workflow, revision: _revision, ...elsewhere } = OWN;
    await cancel({ ...elsewhere, credential: 'key', protocol: 'founding' });
    expect(asked).toMatchObject([{ url: OWN.agentUrl, options: { credential: 'key', protocol: 'founding' } }]);
  });

  it('of an earlier version asks for the newest revision', async () => {
    const { revision: _revision, ...earlier } = OWN;
    await cancel(earlier);
    expect(asked[0]?.options).not.toHaveProperty('revision');
  });

  it('is made once, and kept as unreachable only with the last try', async () => {
    answer = 'unreachable';
    await expect(cancel(OWN)).rejects.toThrow('could not be reached');
    expect(kept).toEqual([]);
    await cancel(OWN, true);
    await cancel(OWN);
    expect(asked).toHaveLength(2);
    expect(kept).toMatchObject([{ outcome: 'unreachable' }]);
  });

  it('is over in a moment where the agent is silent, which is asked once, and whose answer is kept', async () => {
    const { promise, resolve } = Promise.withResolvers<CancelOutcome>();
    answer = promise;
    await expect(cancel(OWN)).rejects.toThrow('could not be reached');
    await expect(cancel(OWN)).rejects.toThrow('could not be reached');
    expect(asked).toHaveLength(1);
    resolve('acknowledged');
    await new Promise(setImmediate);
    expect(kept).toEqual([{ runId: 'run-1', node: 'a', attempt: 1, outcome: 'acknowledged' }]);
    await cancel(OWN);
    expect(asked).toHaveLength(1);
  });

  it('asks four silent Tasks of an agent at a time, and another agent beside them', async () => {
    const { promise, resolve } = Promise.withResolvers<CancelOutcome>();
    answer = promise;
    const { workflow: _workflow, revision: _revision, ...elsewhere } = OWN;
    const tries = [1, 2, 3, 4, 5, 6].map((attempt) => cancel({ ...elsewhere, attempt }).catch(() => 'again'));
    expect(await Promise.all(tries)).toEqual(Array(6).fill('again'));
    expect(asked).toHaveLength(4);
    answer = 'acknowledged';
    await cancel({ ...elsewhere, agentUrl: 'http://another/a2a', attempt: 7 });
    expect(kept).toMatchObject([{ attempt: 7, outcome: 'acknowledged' }]);
    resolve('unreachable');
    await promise;
  });

  it('is asked for beside the silent agents of another caller, at however many origins those are', async () => {
    const { promise, resolve } = Promise.withResolvers<CancelOutcome>();
    answer = promise;
    const { workflow: _workflow, revision: _revision, ...elsewhere } = OWN;
    const scope = { tenant: '', owner: 'eve' };
    const silent = Array.from({ length: 80 }, (_, attempt) => {
      return cancel({ ...elsewhere, scope, attempt, agentUrl: `http://silent-${attempt}/a2a` }).catch(() => 'again');
    });
    expect(await Promise.all(silent)).toEqual(Array(80).fill('again'));
    expect(asked).toHaveLength(16);
    answer = 'acknowledged';
    await cancel({ ...elsewhere, attempt: 81 });
    expect(kept).toMatchObject([{ attempt: 81, outcome: 'acknowledged' }]);
    resolve('unreachable');
    await promise;
  });

  it('lets every job go first that a caller waits for', () => {
    expect(createCancelJob(OWN).priority).toBeGreaterThan(0);
  });

  it('is given up when ten minutes have passed', async () => {
    answer = 'unreachable';
    await cancel({ ...OWN, until: new Date(Date.now() - 1).toISOString() });
    expect(kept).toMatchObject([{ outcome: 'unreachable' }]);
  });
});

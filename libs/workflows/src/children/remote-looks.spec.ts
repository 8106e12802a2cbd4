import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { AgentCallOptions, AgentDirectory } from '#libs/a2a-client';
import type { Jobs } from '#libs/job-queue';
import type { JobContext, JobHandler } from '#libs/jobs';
import type { Task, TaskState } from '#libs/protocol';
import { Metrics, type Shutdown } from '#libs/service';
import type { NextLook, RemoteLook } from '#libs/workflow-engine';
import { RemoteLooks, RemoteLookStore } from './remote-looks.js';

/** RemoteLookStore in memory, with a clock that does not advance. */
class Store extends RemoteLookStore {
  readonly next: NextLook[] = [];
  readonly kept = new Set<string>();
  readonly woken: string[] = [];
  readonly turns = new Map<string, number>();
  ended = false;
  isAtWork = false;
  superseded = false;

  override async readPlace({ node, asked }: RemoteLook): ReturnType<RemoteLookStore['readPlace']> {
    return { ended: this.ended, movedOn: this.kept.has(`${node} ${asked}`) };
  }

  override async continueWith(next: NextLook): Promise<boolean> {
    if (!this.superseded) this.next.push(next);
    return !this.superseded;
  }

  override async reserveTurn(agent: string, spacing: number): Promise<number> {
    const wait = this.turns.get(agent) ?? 0;
    this.turns.set(agent, wait + spacing);
    return wait;
  }

  override async keepMovedOn({ node, asked }: RemoteLook): Promise<void> {
    this.kept.add(`${node} ${asked}`);
  }

  override async wakeRun(runId: string): Promise<boolean> {
    if (!this.isAtWork) this.woken.push(runId);
    return !this.isAtWork;
  }

  override async forgetIdleAgents(): Promise<void> {}
}

let store: Store;
let asked: { url: string; options: AgentCallOptions }[];
let answer: (options: AgentCallOptions) => Promise<TaskState>;
let run: (fields?: Partial<RemoteLook>) => Promise<void>;
let stop: () => unknown;

beforeEach(() => {
  store = new Store();
  asked = [];
  answer = async () => 'TASK_STATE_INPUT_REQUIRED';
  const handlers = new Map<string, JobHandler<unknown>>();
  const jobs = {
    registerHandler: (name: string, it: JobHandler<unknown>) => handlers.set(name, it),
    scheduleCron: () => undefined,
  };
  const shutdown = { registerStep: (_phase: string, step: () => unknown) => void (stop = step) };
  const directory = {
    resolveClient: async (url: string) => ({
      getTask: async (_taskId: string, options: AgentCallOptions) => {
        asked.push({ url, options });
        return { status: { state: await answer(options) } } as Task;
      },
    }),
  };
  new RemoteLooks(
    jobs as unknown as Jobs,
    new Metrics(),
    shutdown as unknown as Shutdown,
    directory as unknown as AgentDirectory,
    store,
  );
  const place = {
    runId: 'r',
    node: 'e',
    asked: '1 then',
    looks: 0,
    attempt: 1,
    taskId: 't',
    agentUrl: 'http://there/a',
  };
  const look = { ...place, scope: { tenant: '', owner: 'ann' }, wantsAuth: false, question: '' };
  run = async (fields) => {
    await handlers.get('runs.look-at-remote')?.run({ ...look, ...fields }, {} as JobContext);
    await turn();
  };
});

describe('looks at remote Tasks that ask', () => {
  it('resume the run of a Task that has moved on, and look again later at any other', async () => {
    await run();
    expect([store.woken, store.next.map(({ payload }) => payload.looks)]).toEqual([[], [1]]);
    answer = async () => 'TASK_STATE_COMPLETED';
    await run({ looks: 1, reserved: true });
    expect([store.woken, [...store.kept]]).toEqual([['r'], ['e 1 then']]);
  });

  it('change nothing where the agent is away, refuses, or has forgotten the Task', async () => {
    answer = async () => Promise.reject(new Error('not found'));
    await run({ reserved: true });
    expect([asked.length, store.woken, store.kept.size, store.next.length]).toEqual([1, [], 0, 1]);
  });

  it('wake a run that was at work once it waits, without another request to the agent', async () => {
    answer = async () => 'TASK_STATE_FAILED';
    store.isAtWork = true;
    await run({ reserved: true });
    await run({ looks: 1 });
    expect([store.woken, store.next.length]).toEqual([[], 2]);
    store.isAtWork = false;
    await run({ looks: 2 });
    expect([store.woken, store.next.length, asked.length]).toEqual([['r'], 2, 1]);
  });

  it('end with their run, and where another question has taken the place of theirs', async () => {
    store.ended = true;
    await run();
    store.ended = false;
    store.superseded = true;
    await run();
    expect([asked, store.next]).toEqual([[], []]);
  });

  it('of a thousand waiting runs come one every 250 ms for each agent host, over all replicas', async () => {
    for (let run_ = 0; run_ < 1_000; run_ += 1) await run({ runId: `r${run_}`, agentUrl: `http://there/${run_}` });
    await run({ agentUrl: 'http://elsewhere' });
    const reserved = store.next.filter(({ payload }) => payload.reserved);
    expect(asked.length).toBe(1_000 - reserved.length + 1);
    expect(asked.length).toBeLessThan(6);
    const inFirstMinute = reserved.filter(({ pause }) => pause < 60_000);
    expect(inFirstMinute.length).toBeLessThanOrEqual(240);
    expect(Math.max(...reserved.map(({ pause }) => pause))).toBe(999 * 250);
    const [first] = reserved;
    await run(first?.payload);
    expect(asked.at(-1)?.url).toBe(first?.payload.agentUrl);
  });

  it('hold no job slot while an agent hangs, of which there are few at once, and end with the service', async () => {
    let ended = 0;
    answer = async ({ signal }) => {
      if (signal) await once(signal, 'abort');
      ended += 1;
      throw new Error('aborted');
    };
    for (let each = 0; each < 10; each += 1) await run({ runId: `r${each}`, reserved: true });
    expect([asked.length, store.next.length]).toEqual([4, 10]);
    await run({ agentUrl: 'http://elsewhere' });
    expect(asked.length).toBe(5);
    await stop();
    await turn();
    expect(ended).toBe(5);
    answer = async () => 'TASK_STATE_COMPLETED';
    await run({ reserved: true });
    expect(store.woken).toEqual(['r']);
  });

  it('name the run as the caller, and its credential, with a time limit of their own', async () => {
    await run({ credential: 'key-of-e' });
    expect(asked[0]?.options).toMatchObject({
      credential: 'key-of-e',
      parent: { taskId: 'r', reference: 'e#1' },
      timeouts: { refused: 0, total: 5_000 },
    });
  });
});

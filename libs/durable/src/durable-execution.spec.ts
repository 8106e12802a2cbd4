import { jest } from '@jest/globals';
import { HttpAgentDirectory } from '#libs/a2a-client';
import { CallChains, type RequestContext, TaskCanceled } from '#libs/agents';
import { derivedId, userMessage } from '#libs/protocol';
import { ANONYMOUS_SCOPE, type TaskHeader } from '#libs/tasks';
import { FakeAgent } from '../../../test/support/fake-agent.js';
import { answers, ends, holds } from '../../../test/support/fake-behaviour.js';
import type { AgentCall } from './agent-call.js';
import { type CalledAgent, type PlannedCall, ProcessCalls } from './durable-execution.js';

const MESSAGE = derivedId('process-1', 'step', 1);

/** Calls of one execution of a process. */
class Execution {
  /** Number of queries to the store for the Tasks of earlier executions. */
  lookups = 0;
  /** Number of queries to the store for Tasks at remote agents. */
  looksElsewhere = 0;
  admitted = 0;
  readonly calls: ProcessCalls;
  private readonly controller = new AbortController();

  constructor(
    private readonly agent: FakeAgent,
    /** Ids of the Tasks that agents of this service created, by reference; or the error with which the query fails. */
    made: Record<string, string> | Error = {},
    elsewhere: Record<string, string> = {},
  ) {
    const directory = new HttpAgentDirectory({ http: { fetch, cachedFetch: fetch }, onCardless: () => undefined });
    const recordedChildren = async (): Promise<TaskHeader[]> => {
      this.lookups += 1;
      if (made instanceof Error) throw made;
      return Object.entries(made).map(([parentReference, taskId]) => ({ parentReference, taskId }) as TaskHeader);
    };
    const remembered = async (): Promise<[string, string][]> => {
      this.looksElsewhere += 1;
      return Object.entries(elsewhere);
    };
    const context = {
      taskId: 'process-1',
      contextId: 'context-1',
      call: { scope: ANONYMOUS_SCOPE, agent: 'processes', extensions: [], baseUrl: 'http://own' },
      signal: this.controller.signal,
      flush: async () => undefined,
      assertClaimHeld: async () => undefined,
    } as unknown as RequestContext;
    this.calls = new ProcessCalls(
      { directory, tasks: { recordedChildren }, chains: new CallChains(Buffer.from('a secret')) },
      { context, links: [], remembered },
    );
  }

  called(fields: Partial<CalledAgent> = {}): CalledAgent {
    return { reference: 'step#1', own: false, findTarget: () => ({ url: this.agent.url }), ...fields };
  }

  planned(fields: Partial<PlannedCall> = {}): PlannedCall {
    return {
      ...this.called(),
      request: { message: userMessage('hello', { messageId: MESSAGE }) },
      admit: async () => {
        this.admitted += 1;
      },
      ...fields,
    };
  }

  async made(fields: Partial<PlannedCall> = {}): Promise<string | undefined> {
    const call = await this.calls.openCall(this.planned(fields));
    await follow(call);
    return call.outcome.answer.artifacts[0]?.parts[0]?.text;
  }

  /** Opens a call, and runs it until its agent has reported its Task. */
  async under(fields: Partial<PlannedCall> = {}): Promise<{ taskId: string; rest: Promise<void> }> {
    const call = await this.calls.openCall(this.planned(fields));
    const run = call.runCall();
    await run.next();
    const rest = async (): Promise<void> => {
      while (!(await run.next()).done);
    };
    return { taskId: call.taskId ?? '', rest: rest() };
  }

  cancel(): void {
    this.controller.abort(new TaskCanceled());
  }
}

async function follow(call: AgentCall): Promise<void> {
  const run = call.runCall();
  while (!(await run.next()).done);
}

describe('ProcessCalls', () => {
  let agent: FakeAgent;

  beforeEach(async () => {
    agent = await FakeAgent.start({ streaming: true });
  });
  afterEach(() => agent.stop());

  /** Starts a call, ends its execution, and returns the id of the Task that the call has left at the agent. */
  async function left(): Promise<string> {
    const { taskId, rest } = await new Execution(agent).under();
    void rest.catch(() => undefined);
    return taskId;
  }

  describe('the time of a call', () => {
    const HOUR = 3_600_000;
    /** Returns the delays of the timers that end the call, each rounded to one hour or half an hour. */
    async function timesOf(one: Execution, fields: Partial<PlannedCall> = {}): Promise<number[]> {
      const timers = jest.spyOn(globalThis, 'setTimeout');
      await one.made({ limit: HOUR, since: Date.now() - HOUR / 2, ...fields });
      const times = timers.mock.calls.map(([, ms = 0]) => ms).filter((ms) => ms > HOUR / 4);
      timers.mockRestore();
      return times.map((ms) => (ms > (3 / 4) * HOUR ? HOUR : HOUR / 2));
    }

    it('begins with it where this execution decided on it', async () => {
      const one = new Execution(agent);
      one.calls.announceCall('step#1');
      expect(await timesOf(one)).toEqual([HOUR]);
    });

    it('goes on where another one did, and an agent elsewhere may have the Message', async () => {
      expect(await timesOf(new Execution(agent))).toEqual([HOUR / 2]);
    });

    it('goes on where another one has called an agent of ours', async () => {
      const one = new Execution(agent, { 'step#1': await left() });
      expect(await timesOf(one, { own: true })).toEqual([HOUR / 2]);
    });

    it('begins with the Message where another one died before an agent of ours was sent it', async () => {
      const one = new Execution(agent);
      expect(await timesOf(one, { own: true })).toEqual([HOUR]);
      expect(agent.sends).toHaveLength(1);
    });

    it.each([true, false])(
      'begins with an answer that the Task which asked has not got, of an agent of ours: %s',
      async (own) => {
        agent.next(ends('TASK_STATE_INPUT_REQUIRED', 'which?'));
        await new Execution(agent).made();
        const [taskId = ''] = agent.taskIds();
        const request = { message: userMessage('the red one', { messageId: `${MESSAGE}-answer`, taskId }) };
        expect(await timesOf(new Execution(agent), { own, request })).toEqual([HOUR / 2, HOUR]);
        expect(agent.texts).toEqual(['hello', 'the red one']);
      },
    );
  });

  describe('a call', () => {
    it('that this execution decided on is made, without a look for an earlier one', async () => {
      const one = new Execution(agent, { 'step#1': 'none of this call' });
      one.calls.announceCall('step#1');
      expect(await one.made({ seen: 'nor this' })).toBe('ok');
      expect([one.lookups, one.admitted]).toEqual([0, 1]);
      expect(agent.sends.map(({ message }) => message?.messageId)).toEqual([MESSAGE]);
      expect(JSON.stringify(agent.sends[0]?.message?.metadata)).toContain('"task":"process-1","caller":"processes"');
    });

    it.each([
      ['the log names', (taskId: string) => ({ seen: taskId })],
      ['an agent of ours has', (taskId: string) => ({ made: { 'step#1': taskId } })],
      ['was remembered of an agent elsewhere', (taskId: string) => ({ elsewhere: { 'step#1': taskId } })],
    ])('whose Task %s is gone on with, and costs nothing again', async (_what, known) => {
      agent.always(answers('of the first'));
      const first = new Execution(agent);
      const call = await first.calls.openCall(first.planned());
      await follow(call);
      const {
        seen,
        made,
        elsewhere,
      }: { seen?: string; made?: Record<string, string>; elsewhere?: Record<string, string> } = known(
        call.taskId ?? '',
      );
      const second = new Execution(agent, made, elsewhere);
      expect(await second.made(seen === undefined ? {} : { seen })).toBe('of the first');
      expect(agent.sends).toHaveLength(1);
      expect(second.admitted).toBe(0);
    });

    it('of an agent of ours is found without a look at those elsewhere', async () => {
      const taskId = await left();
      const one = new Execution(agent, { 'step#1': taskId }, { 'other#1': 'task' });
      expect(await one.calls.findTaskId(one.called())).toBe(taskId);
      expect(one.looksElsewhere).toBe(0);
      expect(await one.calls.findTaskId(one.called({ reference: 'other#1' }))).toBe('task');
      expect([one.lookups, one.looksElsewhere]).toEqual([1, 1]);
    });

    it('that nobody knows to be made goes out again, under the same id', async () => {
      await left();
      const second = new Execution(agent);
      await second.made();
      await second.made({ reference: 'step#2' });
      expect(agent.sends.map(({ message }) => message?.messageId)).toEqual([MESSAGE, MESSAGE, MESSAGE]);
      expect([second.lookups, second.admitted]).toEqual([1, 2]);
    });
  });

  describe('a cancel', () => {
    beforeEach(() => agent.always(holds()));

    it('reaches the Task of the call that is open, which throws then', async () => {
      const one = new Execution(agent);
      const { taskId, rest } = await one.under();
      const ended = rest.catch((error: unknown) => error);
      one.cancel();
      expect(await one.calls.cancelCall(one.called())).toEqual({ taskId, outcome: 'acknowledged' });
      expect(await ended).toBeInstanceOf(TaskCanceled);
      expect(agent.cancels).toEqual([taskId]);
    });

    it('reaches the Task that an earlier execution made, through the signal that has cut this one', async () => {
      const taskId = await left();
      const second = new Execution(agent, { 'step#1': taskId });
      second.cancel();
      expect(await second.calls.cancelCall(second.called({ own: true }))).toEqual({ taskId, outcome: 'acknowledged' });
      expect(agent.cancels).toEqual([taskId]);
    });

    it('of a call that was only decided on finds nothing to cancel', async () => {
      const one = new Execution(agent);
      one.calls.announceCall('step#1');
      expect(await one.calls.cancelCall(one.called())).toEqual({ outcome: 'not-started' });
      expect([one.lookups, agent.calls.length]).toEqual([0, 0]);
    });

    it('of a call that may have been made and is not to be found says so', async () => {
      const unknown = new Execution(agent);
      expect(await unknown.calls.cancelCall(unknown.called())).toEqual({ outcome: 'unknown' });
      expect(await unknown.calls.cancelCall(unknown.called({ own: true }))).toEqual({ outcome: 'not-started' });
      const blind = new Execution(agent, new TypeError('a fault'));
      expect(await blind.calls.cancelCall(blind.called({ own: true }))).toEqual({ outcome: 'unknown' });
    });

    it('of an agent that is nowhere any more comes out as unreachable', async () => {
      const one = new Execution(agent);
      const nowhere = one.called({
        findTarget: () => {
          throw new Error('no such agent');
        },
      });
      expect(await one.calls.cancelTask(nowhere, 'task-1')).toBe('unreachable');
    });
  });

  it('whose execution ends closes what is open, and the agents work on', async () => {
    agent.always(holds());
    const one = new Execution(agent);
    const { taskId, rest } = await one.under();
    const ended = rest.catch((error: Error) => error.message);
    one.calls.abort();
    expect(await ended).toBe('the call was aborted');
    expect([one.calls.taskIdOf('step#1'), agent.cancels]).toEqual([taskId, []]);
  });
});

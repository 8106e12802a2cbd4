import { jest } from '@jest/globals';
import { once } from 'node:events';
import { AgentCallError, type AgentCallOptions } from '#libs/a2a-client';
import { UnknownAgent } from '#libs/agents';
import { ContentTooLarge, userMessage } from '#libs/protocol';
import { Backoff } from '#libs/service';
import { FakeCallingTask, outcomeOf, sighted } from '../../../test/support/calling-task.js';
import { FakeAgent } from '../../../test/support/fake-agent.js';
import { ends, holds } from '../../../test/support/fake-behaviour.js';
import { holdTimeouts } from '../../../test/support/fake-time.js';
import { until } from '../../../test/support/until.js';
import type { AgentCall } from './agent-call.js';

describe('AgentCall that fails', () => {
  let agent: FakeAgent;
  const caller = () => new FakeCallingTask(agent);

  beforeEach(async () => {
    agent = await FakeAgent.start({ streaming: true });
  });
  afterEach(() => agent.stop());

  it.each([
    ['TASK_STATE_FAILED', 'failed', 'the agent failed: no paper'],
    ['TASK_STATE_REJECTED', 'rejected', 'the agent rejected the message: no paper'],
    ['TASK_STATE_CANCELED', 'aborted', 'the agent canceled its task: no paper'],
  ] as const)('by a Task that ends %s is %s', async (state, kind, message) => {
    agent.always(ends(state, 'no paper'));
    const failure = { kind, message, retryable: false, state };
    expect(await outcomeOf(caller().call())).toMatchObject({ kind: 'failed', failure });
  });

  it.each([
    [{ rpcError: { code: -32000, message: 'test error' } }, 'rpc-error', false],
    [{ httpStatus: 400 }, 'client-error', false],
    [{ httpStatus: 401 }, 'unauthorized', false],
    [{ httpStatus: 503 }, 'server-error', true],
    [{ body: 'nonsense' }, 'invalid-response', false],
  ] as const)('by an answer of %j says so', async (behaviour, kind, retryable) => {
    agent.always(behaviour);
    const outcome = await outcomeOf(caller().call());
    expect(outcome).toMatchObject({ kind: 'failed', failure: { kind, retryable } });
    expect(outcome).not.toHaveProperty('failure.state');
  });

  it('by an answer that finds no room may be made again', async () => {
    const target = () => Promise.reject(new AgentCallError('overloaded', 'too many'));
    expect(await outcomeOf(caller().call({ findTarget: target }))).toMatchObject({
      failure: { kind: 'overloaded', retryable: true },
    });
  });

  it('by an agent that is called too often says so, and how long it asks to wait', async () => {
    agent.always({ httpStatus: 429, headers: { 'retry-after': '3' } });
    const failure = { kind: 'client-error', rateLimited: true, retryAfter: 3_000 };
    expect(await outcomeOf(caller().call())).toMatchObject({ failure });
  });

  it('by 5xx gets its Message again only as often as its caller wants', async () => {
    agent.always({ httpStatus: 503 });
    expect(await outcomeOf(caller().call({ resends: 0 }))).toMatchObject({ failure: { kind: 'server-error' } });
    expect(agent.sends).toHaveLength(1);
  });

  it.each([
    [new UnknownAgent('there is no agent "x"', 'AGENT_NOT_FOUND'), 'not-found', 'there is no agent "x"'],
    [new AgentCallError('refused', 'not there'), 'refused', 'not there'],
    [ContentTooLarge.beyondLimit('the text', 7, 'TASK_LIMIT'), 'refused', expect.stringContaining('the text')],
    [new TypeError('secret internals'), 'internal', 'internal error'],
  ])('before it is made, with %p, calls nobody', async (error, kind, message) => {
    const target = () => Promise.reject(error);
    expect(await outcomeOf(caller().call({ findTarget: target }))).toMatchObject({
      failure: { kind, message, cause: error },
    });
    expect(agent.calls).toEqual([]);
  });

  it('calls nobody in a circle, and asks nobody whether it may', async () => {
    const one = caller();
    const links = one.chains.extendChain([], { task: 'root', caller: 'workflows/w', callee: agent.url });
    const admit = () => Promise.reject(new Error('Asked'));
    const outcome = await outcomeOf(one.call({ admit }, { chain: { links, signer: one.chains } }));
    expect(outcome).toMatchObject({
      failure: { kind: 'rpc-error', message: expect.stringContaining('LOOP_DETECTED') },
    });
    expect(agent.calls).toEqual([]);
  });

  it('has no longer than its time, over the whole call, and cancels the Task then', async () => {
    const ticks = Array.from({ length: 600 }, () => [{ status: 'TASK_STATE_WORKING' as const }, { sleep: 50 }]).flat();
    agent.always({ steps: ticks });
    const failure = {
      kind: 'timeout',
      message: 'timeout: not finished within 2 s',
      retryable: true,
      timedOut: true,
    };
    expect(await outcomeOf(caller().call({ limit: 2_000 }))).toMatchObject({ kind: 'failed', failure });
    await until(() => agent.cancels.length > 0, { what: 'the cancel' });
    expect(agent.cancels).toEqual(agent.taskIds());
  });

  it('after an error in the midst of an answer looks on, as long as the Task works and its time lasts', async () => {
    agent.always({
      steps: [
        { status: 'TASK_STATE_WORKING' },
        { sleep: 20 },
        { cut: { code: -32603, message: 'oh no' } },
        { hold: true },
        { artifact: { parts: [{ text: 'x' }] } },
        { status: 'TASK_STATE_COMPLETED' },
      ],
    });
    const pauses = jest.spyOn(Backoff.prototype, 'pauseAfter').mockReturnValue(20);
    const outcome = outcomeOf(caller().call({ limit: 300_000 }));
    const looks = () => agent.calls.filter(({ method }) => method === 'GetTask').length;
    await until(() => looks() > 11, { what: 'more looks than at a Task of a call without a limit' });
    agent.release();
    expect(await outcome).toMatchObject({ kind: 'completed', answer: { artifacts: [{ parts: [{ text: 'x' }] }] } });
    pauses.mockRestore();
    expect(agent.cancels).toEqual([]);
  });

  it.each([
    ['an error in the midst of its answer, if the agent keeps no Tasks', { code: -32603, message: 'oh no' }, {}],
    ['a silence that is too long', undefined, { timeouts: { idle: 100 } }],
  ])('by %s cancels the Task that is left at work, once', async (_what, error, fields) => {
    agent.options.forgetful = error !== undefined;
    const steps = [{ status: 'TASK_STATE_WORKING' as const }, { sleep: 20 }];
    agent.always({ steps: [...steps, ...(error ? [{ cut: error }] : []), { hold: true }] });
    const outcome = await outcomeOf(caller().call(fields));
    expect(outcome).toMatchObject({ failure: { kind: error ? 'rpc-error' : 'timeout' } });
    await until(() => agent.cancels.length > 0, { what: 'the cancel' });
    expect(agent.cancels).toEqual(agent.taskIds());
  });

  it.each([
    ['a fault of ours', new TypeError('internal'), 'internal'],
    ['a limit of ours', ContentTooLarge.beyondLimit('the text', 7, 'TASK_LIMIT'), 'refused'],
  ])('by %s cancels the Task that is left at work, once', async (_what, fault, kind) => {
    const works = { status: 'TASK_STATE_WORKING' } as const;
    agent.always({ steps: [works, { sleep: 20 }, works, { hold: true }] });
    const call = caller().call();
    const { answer } = call;
    const apply = answer.applyResponse.bind(answer);
    answer.applyResponse = (response) => {
      if (answer.active) throw fault;
      return apply(response);
    };
    expect(await outcomeOf(call)).toMatchObject({ failure: { kind, cause: fault } });
    await until(() => agent.cancels.length > 0, { what: 'the cancel' });
    expect(agent.cancels).toEqual(agent.taskIds());
  });

  it.each([
    ['with a Task that was seen before cancels that', undefined, ['known']],
    ['with an answer leaves the Task waiting', 'known', []],
  ])('before the agent tells of its Task, %s', async (_what, taskId, cancels) => {
    const canceled: string[] = [];
    const lost = new AgentCallError('overloaded', 'too many answers are read');
    const client = {
      agentUrl: agent.url,
      followTask: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(lost) }) }),
      cancelTask: async (id: string) => canceled.push(id),
    };
    const one = Object.assign(caller(), { directory: { resolveClient: async () => client } });
    const request = { message: userMessage('hello', { ...(taskId && { taskId }) }) };
    expect(await outcomeOf(one.call({ known: 'known', request }))).toMatchObject({ failure: { kind: 'overloaded' } });
    expect(canceled).toEqual(cancels);
  });

  it.each([
    ['ended', ends('TASK_STATE_FAILED')],
    ['never begun', { httpStatus: 400 }],
  ])('by a Task that has %s cancels nothing', async (_what, behaviour) => {
    agent.always(behaviour);
    expect(await outcomeOf(caller().call())).toMatchObject({ kind: 'failed' });
    expect(agent.cancels).toEqual([]);
  });

  it('says that nobody listened rather than that the time is over', async () => {
    await agent.goDown();
    // The limit is longer than all attempts take, on any machine.
    const outcome = await outcomeOf(caller().call({ limit: 60_000, timeouts: { refused: 500 } }));
    expect(outcome).toMatchObject({ failure: { kind: 'connect', retryable: true } });
    expect(outcome).not.toHaveProperty('failure.outOfTime');
  });

  it('keeps to limits of single steps', async () => {
    agent.always({ hang: true });
    const outcome = await outcomeOf(caller().call({ timeouts: { firstEvent: 50 } }));
    expect(outcome).toMatchObject({ failure: { kind: 'timeout', message: 'timeout: no answer within 0.05 s' } });
  });
});

describe('AgentCall whose caller fails', () => {
  let agent: FakeAgent;

  beforeEach(async () => {
    agent = await FakeAgent.start({ streaming: true });
  });
  afterEach(() => agent.stop());

  async function failing(fields: Parameters<FakeCallingTask['call']>[0] = {}): Promise<AgentCall> {
    agent.always(holds());
    const call = new FakeCallingTask(agent).call(fields);
    const reading = async (): Promise<void> => {
      for await (const _progress of call.runCall()) throw new Error('The caller fails');
    };
    await expect(reading()).rejects.toThrow('The caller fails');
    return call;
  }

  it('cancels the Task that is left at work, once', async () => {
    const call = await failing();
    await until(() => agent.cancels.length > 0, { what: 'the cancel' });
    await call.cancelCall();
    expect(agent.cancels).toEqual(agent.taskIds());
  });

  it.each([
    ['an agent of this service', { own: true }],
    ["an agent whose Task is nobody else's", { by: undefined }],
  ])('leaves %s at work', async (_what, fields) => {
    await failing(fields as object);
    expect(agent.cancels).toEqual([]);
  });
});

describe('AgentCall that is canceled', () => {
  let agent: FakeAgent;
  const caller = () => new FakeCallingTask(agent);

  beforeEach(async () => {
    agent = await FakeAgent.start({ streaming: true });
  });
  afterEach(() => agent.stop());

  it('before it is made: not-started', async () => {
    expect(await caller().call().cancelCall()).toEqual({ outcome: 'not-started' });
    expect(agent.calls).toEqual([]);
  });

  it('while nobody listens where it goes: not-started', async () => {
    const trying = Promise.withResolvers<void>();
    async function* send(_request: unknown, { signal }: AgentCallOptions): AsyncGenerator<never> {
      trying.resolve();
      await once(signal as AbortSignal, 'abort');
      throw new AgentCallError('connect', 'no connection', { unsent: true });
    }
    const one = Object.assign(caller(), { directory: { resolveClient: async () => ({ sendMessage: send }) } });
    const call = one.call();
    const outcome = outcomeOf(call);
    outcome.catch(() => undefined);
    await trying.promise;
    expect(await call.cancelCall()).toEqual({ outcome: 'not-started' });
  });

  it('after the Message left, with no Task in sight: unknown', async () => {
    agent.always({ hang: true });
    const call = caller().call();
    const outcome = outcomeOf(call);
    outcome.catch(() => undefined);
    const sent = await agent.sent();
    expect(await call.cancelCall()).toEqual({ outcome: 'unknown' });
    await expect(outcome).rejects.toThrow('The task was canceled');
    await until(() => sent.aborted, { what: 'the connection to be closed' });
    expect(agent.cancels).toEqual([]);
  });

  it.each(['by itself', 'with its caller'])(
    '%s, a moment before the Task comes in sight: cancels that',
    async (how) => {
      agent.always({ delay: 100, then: holds() });
      holdTimeouts();
      const one = caller();
      const call = one.call();
      const outcome = outcomeOf(call);
      outcome.catch(() => undefined);
      await agent.sent();
      if (how === 'with its caller') one.cancel();
      const canceled = await call.cancelCall().finally(() => jest.useRealTimers());
      await expect(outcome).rejects.toThrow('The task was canceled');
      expect(canceled).toEqual({ taskId: agent.taskIds()[0], outcome: 'acknowledged' });
      expect(agent.cancels).toEqual(agent.taskIds());
    },
  );

  it.each([
    ['acknowledge', 'acknowledged'],
    ['refuse', 'refused'],
  ] as const)('at work, where the agent would %s it: %s', async (cancel, outcome) => {
    agent.options.cancel = cancel;
    agent.always(holds());
    const call = caller().call();
    const { taskId, rest } = await sighted(call);
    rest.catch(() => undefined);
    expect(await call.cancelCall()).toEqual({ taskId, outcome });
    await expect(rest).rejects.toThrow('The task was canceled');
  });

  it('at work, where the agent is gone: unreachable', async () => {
    agent.always(holds());
    const call = caller().call();
    const { taskId, rest } = await sighted(call);
    rest.catch(() => undefined);
    await agent.goDown();
    expect(await call.cancelCall()).toEqual({ taskId, outcome: 'unreachable' });
  });

  it('with a Task that an earlier process has seen, before the agent is called', async () => {
    agent.always(holds());
    const first = caller();
    const { taskId, rest } = await sighted(first.call());
    first.die();
    await expect(rest).rejects.toThrow('This process dies');
    expect(await caller().call({ known: taskId }).cancelCall()).toEqual({ taskId, outcome: 'acknowledged' });
  });

  it('only aborted: closes the connection and leaves the agent at work', async () => {
    agent.always(holds());
    const call = caller().call();
    const { rest } = await sighted(call);
    call.abort();
    await expect(rest).rejects.toThrow('the call was aborted');
    expect(call.givenUp).toBe(true);
    expect(agent.cancels).toEqual([]);
  });
});

import { jest } from '@jest/globals';
import { AgentCallError, type AgentClient } from '#libs/a2a-client';
import { CALL_CHAIN } from '#libs/agents';
import { type JsonObject, userMessage } from '#libs/protocol';
import { FakeCallingTask, followed, outcomeOf, sighted } from '../../../test/support/calling-task.js';
import { FakeAgent } from '../../../test/support/fake-agent.js';
import { answers, ends, holds } from '../../../test/support/fake-behaviour.js';
import { Pre10Agent } from '../../../test/support/pre-1-0-agent.js';
import { until } from '../../../test/support/until.js';
import type { AgentCallSpec } from './agent-call-spec.js';
import type { CallOutcome } from './call-outcome.js';

const COMPLETED = { status: 'TASK_STATE_COMPLETED' } as const;

/** Returns the text of an agent's answer. */
function textOf({ answer }: CallOutcome): string | undefined {
  return answer.artifacts[0]?.parts[0]?.text;
}

describe('AgentCall', () => {
  let agent: FakeAgent;
  const caller = () => new FakeCallingTask(agent);

  beforeEach(async () => {
    agent = await FakeAgent.start({ streaming: true });
  });
  afterEach(() => agent.stop());

  it('sends one Message, tells what it hears and gives the answer', async () => {
    const one = caller();
    const { progress, outcome } = await followed(one.call());
    expect(outcome.kind).toBe('completed');
    expect(textOf(outcome)).toBe('ok');
    expect(progress.map(({ seen }) => seen?.first)).toEqual([true, undefined, undefined]);
    expect(agent.sends.map(({ message }) => message?.messageId)).toEqual([one.messageId]);
  });

  it('tells the agent which calls led to it, this one included', async () => {
    const one = caller();
    await outcomeOf(one.call());
    const metadata = agent.sends[0]?.message?.metadata;
    expect(JSON.stringify(metadata)).toContain(`"task":"task","caller":"callers","callee":"${agent.url}"`);
  });

  it.each<[boolean, JsonObject]>([
    [true, { capabilities: { streaming: true, extensions: [{ uri: 'urn:x' }, { uri: 'urn:y' }] } }],
    [false, { capabilities: { streaming: true, extensions: [{ uri: 'urn:x' }] } }],
    [false, { capabilities: { streaming: true } }],
    [false, { capabilities: {} }],
    [false, { capabilities: { extensions: 'urn:y' } }],
    [false, { capabilities: { extensions: { uri: 'urn:y' } } }],
    [false, { capabilities: null }],
  ])('completes the Message once it is known what the card declares (%s)', async (expected, card) => {
    agent.options.card = card;
    const complete: NonNullable<AgentCallSpec['complete']> = (message, client) => ({
      ...message,
      metadata: { ...message.metadata, declared: client.declaresExtension('urn:y') },
    });
    expect((await outcomeOf(caller().call({ complete }))).kind).toBe('completed');
    expect(agent.sends[0]?.message?.metadata).toMatchObject({ declared: expected, [CALL_CHAIN]: expect.anything() });
  });

  describe('whose process dies', () => {
    it('before it is durable that there will be a call: nothing was sent, and the next one sends', async () => {
      const [first, second] = [caller(), caller()];
      const record = Promise.withResolvers<void>();
      first.flush = () => record.promise;
      const lost = outcomeOf(first.call());
      first.die();
      record.resolve();
      await expect(lost).rejects.toThrow('This process dies');
      expect(agent.calls).toEqual([]);
      expect((await outcomeOf(second.call())).kind).toBe('completed');
      expect(agent.sends).toHaveLength(1);
    });

    it('after that and before the Message leaves: the next one sends, once', async () => {
      const [first, second] = [caller(), caller()];
      first.prove = () => new Promise(() => undefined);
      const lost = outcomeOf(first.call());
      lost.catch(() => undefined);
      first.die();
      await expect(lost).rejects.toThrow('This process dies');
      expect(agent.sends).toEqual([]);
      await outcomeOf(second.call());
      expect(agent.sends.map(({ message }) => message?.messageId)).toEqual([first.messageId]);
    });

    it('before the Task of an agent elsewhere is seen: the same Message is sent, which the agent can tell', async () => {
      agent.next({ hang: true });
      const [first, second] = [caller(), caller()];
      const lost = outcomeOf(first.call());
      await agent.sent();
      first.die();
      await expect(lost).rejects.toThrow('This process dies');
      expect((await outcomeOf(second.call())).kind).toBe('completed');
      expect(agent.sends.map(({ message }) => message?.messageId)).toEqual([first.messageId, first.messageId]);
    });

    it('before the Task of an own agent is seen: the same Message under the same key, which makes one Task', async () => {
      agent.next({ hang: true });
      const [first, second] = [caller(), caller()];
      const lost = outcomeOf(first.call({ own: true }));
      await agent.sent();
      first.die();
      await expect(lost).rejects.toThrow('This process dies');
      await outcomeOf(second.call({ own: true }));
      expect(agent.sends.map(({ headers }) => headers['idempotency-key'])).toEqual([first.messageId, first.messageId]);
    });

    it('after the Task is seen: it is followed, and nothing is sent again', async () => {
      agent.always(holds('found'));
      const [first, second] = [caller(), caller()];
      const { taskId, rest } = await sighted(first.call());
      first.die();
      await expect(rest).rejects.toThrow('This process dies');
      const { taskId: again, rest: found } = await sighted(second.call({ known: taskId }));
      agent.release();
      expect([again, textOf(await found)]).toEqual([taskId, 'found']);
      expect(agent.sends).toHaveLength(1);
    });

    it('after the end and before that is recorded: the end is there once more', async () => {
      const first = caller().call();
      await outcomeOf(first);
      const { progress, outcome } = await followed(caller().call({ known: first.taskId as string }));
      expect(textOf(outcome)).toBe('ok');
      expect(progress.map(({ seen }) => seen?.first)).toEqual([false]);
      expect(agent.sends).toHaveLength(1);
    });

    it('and wakes when somebody else has the Task: nothing leaves', async () => {
      const late = caller();
      late.prove = async () => {
        late.die();
        throw new Error('The claim is lost');
      };
      await expect(outcomeOf(late.call())).rejects.toThrow('This process dies');
      expect(agent.cardReads).toHaveLength(1);
      expect(agent.sends).toEqual([]);
    });
  });

  it('asks for no proof right after the store took the announcement', async () => {
    const one = caller();
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    await outcomeOf(one.call({}, { announcedAt: performance.now() }));
    jest.restoreAllMocks();
    expect(one.proofs).toBe(0);
    await outcomeOf(one.call());
    expect(one.proofs).toBe(1);
  });

  it('does not wait for its record where the agent works in this process', async () => {
    const one = caller();
    one.flush = () => new Promise(() => undefined);
    expect((await outcomeOf(one.call({ own: true }, { staysHere: true }))).kind).toBe('completed');
  });

  describe('with an agent that asks', () => {
    const followUp = (one: FakeCallingTask, taskId: string) => ({
      request: { message: userMessage('the red one', { messageId: `${one.messageId}-answer`, taskId }) },
    });

    async function asked(): Promise<string> {
      agent.next(ends('TASK_STATE_INPUT_REQUIRED', 'which?'));
      const call = caller().call();
      const outcome = await outcomeOf(call);
      expect([outcome.kind, outcome.answer.state]).toEqual(['waiting', 'TASK_STATE_INPUT_REQUIRED']);
      return call.taskId as string;
    }

    it('sends the answer down to the same Task, whose stream begins with what it asked', async () => {
      const taskId = await asked();
      agent.options.storedFirst = true;
      agent.next(answers('thanks'));
      const one = caller();
      const { progress, outcome } = await followed(one.call(followUp(one, taskId)));
      expect(textOf(outcome)).toBe('thanks');
      expect(progress[0]).toMatchObject({
        seen: { taskId, first: false },
        response: { task: { status: { message: {} } } },
      });
    });

    it('sends an answer that the Task has not got, after a crash, and never one that it has', async () => {
      const taskId = await asked();
      agent.always(ends('TASK_STATE_INPUT_REQUIRED', 'and which size?'));
      const one = caller();
      const spec = { ...followUp(one, taskId), known: taskId };
      expect((await outcomeOf(one.call(spec))).kind).toBe('waiting');
      expect((await outcomeOf(one.call(spec))).kind).toBe('waiting');
      expect(agent.texts).toEqual(['hello', 'the red one']);
    });

    it('sends no answer that the caller knows to have been delivered, whatever the Task remembers', async () => {
      const taskId = await asked();
      const one = caller();
      const spec = { ...followUp(one, taskId), known: taskId, delivered: true };
      expect((await outcomeOf(one.call(spec))).kind).toBe('waiting');
      expect(agent.texts).toEqual(['hello']);
    });

    const tooLate = { rpcError: { code: -32004, message: 'the task takes no Messages' } };
    const stateIs = async (state: string) => {
      const client = await caller().directory.resolveClient(agent.url);
      const [taskId = ''] = agent.taskIds();
      await until(async () => (await client.getTask(taskId)).status.state === state);
    };

    it.each([true, false])(
      'takes what its Task has come to by itself for the answer, streaming: %s',
      async (streaming) => {
        agent.options.streaming = streaming;
        const login = { status: 'TASK_STATE_AUTH_REQUIRED', text: 'log in' } as const;
        agent.next({ steps: [login, { hold: true }, { artifact: { parts: [{ text: 'in' }] } }, COMPLETED] }, tooLate);
        const first = caller().call();
        expect((await outcomeOf(first)).kind).toBe('waiting');
        agent.release();
        await stateIs('TASK_STATE_COMPLETED');
        const one = caller();
        const outcome = await outcomeOf(one.call(followUp(one, first.taskId as string)));
        expect([outcome.kind, textOf(outcome)]).toEqual(['completed', 'in']);
        expect(agent.texts).toEqual(['hello', 'the red one']);
      },
    );

    it('follows a Task that has gone on by itself, to its end', async () => {
      const login = { status: 'TASK_STATE_AUTH_REQUIRED', text: 'log in' } as const;
      const works = { status: 'TASK_STATE_WORKING' } as const;
      agent.next({ steps: [login, { hold: true }, works, { hold: true }, COMPLETED] }, tooLate);
      const first = caller().call();
      await outcomeOf(first);
      agent.release();
      await stateIs('TASK_STATE_WORKING');
      const one = caller();
      const { rest } = await sighted(one.call(followUp(one, first.taskId as string)));
      agent.release();
      expect((await rest).kind).toBe('completed');
    });

    it('fails with the refusal where the Task still waits', async () => {
      const taskId = await asked();
      agent.next(tooLate);
      const one = caller();
      const outcome = await outcomeOf(one.call(followUp(one, taskId)));
      expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'rpc-error' } });
      expect(agent.sends).toHaveLength(2);
    });

    it('never sends the Message again that made the Task', async () => {
      const taskId = await asked();
      expect((await outcomeOf(caller().call({ known: taskId }))).kind).toBe('waiting');
      expect(agent.sends).toHaveLength(1);
    });
  });

  it('goes on with a stream that breaks, and sends nothing again', async () => {
    const steps = [
      { status: 'TASK_STATE_WORKING' } as const,
      { hold: true } as const,
      { cut: true } as const,
      { sleep: 100 },
      { artifact: { parts: [{ text: 'whole' }] } },
      { status: 'TASK_STATE_COMPLETED' } as const,
    ];
    agent.always({ steps });
    const { rest } = await sighted(caller().call());
    agent.release();
    expect(textOf(await rest)).toBe('whole');
    expect(agent.sends).toHaveLength(1);
  });

  it('waits for an agent that starts again', async () => {
    await agent.goDown();
    const outcome = outcomeOf(caller().call());
    setTimeout(() => void agent.comeUp(), 300);
    expect((await outcome).kind).toBe('completed');
    expect(agent.sends).toHaveLength(1);
  });

  it('makes the call of an own agent again where its answer was lost, and follows the Task it has seen', async () => {
    agent.next({ rpcError: { code: -32603, message: 'the database is away' } }).always(holds('found'));
    const { rest } = await sighted(caller().call({ own: true }));
    agent.release();
    expect(textOf(await rest)).toBe('found');
    expect(new Set(agent.sends.map(({ message }) => message?.messageId)).size).toBe(1);
    expect(agent.sends).toHaveLength(2);
  });

  it('sends the Message again where the Task of an own agent, which it was told of, never came to be', async () => {
    const [lost, made] = ['lost', 'made'].map((id) => ({
      task: { id, contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' as const }, artifacts: [], history: [] },
    }));
    const unknown = new AgentCallError('not-found', 'Task not found', { code: -32001 });
    const asked: string[] = [];
    const client = {
      agentUrl: agent.url,
      async *sendMessage(): AsyncGenerator<unknown> {
        asked.push('send');
        if (asked.length > 1) return yield made;
        yield { ...lost, task: { ...lost?.task, status: { state: 'TASK_STATE_SUBMITTED' } } };
        throw unknown;
      },
      // oxlint-disable-next-line require-yield
      async *followTask(taskId: string): AsyncGenerator<unknown> {
        asked.push(taskId);
        throw unknown;
      },
    };
    const one = caller();
    jest.spyOn(one.directory, 'resolveClient').mockResolvedValue(client as unknown as AgentClient);
    const outcome = await outcomeOf(one.call({ own: true }));
    expect([outcome.kind, outcome.answer.taskId, asked]).toEqual(['completed', 'made', ['send', 'lost', 'send']]);
    asked.length = 0;
    jest.spyOn(one.directory, 'resolveClient').mockResolvedValue(client as unknown as AgentClient);
    expect(await outcomeOf(one.call())).toMatchObject({ kind: 'failed', failure: { kind: 'not-found' } });
  });

  it('fails where the agent has forgotten the Task, or sends the Message again where that is wanted', async () => {
    const failed = await outcomeOf(caller().call({ known: 'forgotten' }));
    expect(failed).toMatchObject({ kind: 'failed', failure: { kind: 'not-found', retryable: false } });
    expect(agent.sends).toEqual([]);
    const { progress, outcome } = await followed(caller().call({ known: 'forgotten', forgotten: 'send' }));
    expect([outcome.kind, progress[0]?.seen?.first]).toEqual(['completed', true]);
  });

  describe('of an agent that cannot be asked after its Task, after a crash', () => {
    let old: Pre10Agent;
    beforeEach(async () => {
      old = await Pre10Agent.start({ cardAt: '/agent-card' });
    });
    afterEach(() => old.stop());

    it('sends an answer that the Task may not have got', async () => {
      const one = new FakeCallingTask(old);
      const request = { message: userMessage('the red one', { messageId: 'm', taskId: 'task-1' }) };
      expect(await outcomeOf(one.call({ request, known: 'task-1' }))).toMatchObject({ kind: 'completed' });
      expect(old.requests.map(({ params }) => params.message)).toMatchObject([{ messageId: 'm', taskId: 'task-1' }]);
      const delivered = one.call({ request, known: 'task-1', delivered: true });
      expect(await outcomeOf(delivered)).toMatchObject({ kind: 'failed', failure: { kind: 'rpc-error' } });
      expect(old.requests).toHaveLength(1);
    });

    it('fails where the Message had made a Task, and sends nothing again', async () => {
      const outcome = await outcomeOf(new FakeCallingTask(old).call({ known: 'task-1' }));
      const message = 'the agent speaks the pre-1.0 dialect, which has no GetTask';
      expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'rpc-error', message } });
      expect(old.requests).toEqual([]);
    });
  });
});

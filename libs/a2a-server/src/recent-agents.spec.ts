import type { ServedAgent } from '#libs/agents';
import { A2AError, type SendMessageRequest, type SendMessageResponse } from '#libs/protocol';
import { PreconditionFailed } from '#libs/tasks';
import { OPERATIONS } from './operations.js';
import { echo, FakeExecutor, greeting, servedAgent } from './testing/fake-agents.js';
import { callTo, type FakeService, fakeService, textRequest } from './testing/fake-service.js';

const PATH = 'workflows/flow/nodes/new';
const premise = { relation: 'workflow_newest', tenant: '', name: 'flow', version: '1/7' } as const;
const refusing = (): void => {
  throw new A2AError('UNSUPPORTED_OPERATION', { message: 'not any more' });
};

let service: FakeService;
/** Versions of the agent with which each operation ran, in order. */
let at: string[];

/** Creates a service whose agent at `PATH` has version 2, but which has cached this agent as version 1. */
function serviceThatSaw(recent: Partial<ServedAgent>): void {
  service = fakeService([servedAgent(PATH, new FakeExecutor(echo), { version: '2' })]);
  const agent = servedAgent(PATH, new FakeExecutor(echo), { version: '1', premise, ...recent });
  service.catalog.findCachedAgent = (path) => (path === PATH ? agent : undefined);
  at = [];
}

async function send(request: SendMessageRequest, fields: object = {}): Promise<SendMessageResponse> {
  const call = { ...callTo(PATH), ...fields };
  const answers: SendMessageResponse[] = [];
  await service.handler.withCachedAgent(call, async (agent) => {
    at.push(agent.version);
    answers.push(await service.handler.sendMessage(agent, request, call));
  });
  expect(answers).toHaveLength(1);
  return answers[0]!;
}

describe('a Message at an agent that is known of before', () => {
  it('is taken in without a look for a newer revision', async () => {
    serviceThatSaw({});
    expect(await send(textRequest('hi'))).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(at).toEqual(['1']);
  });

  it('is taken in by the newest revision where the one known of is that no more', async () => {
    serviceThatSaw({});
    service.executions.interruptWith = new PreconditionFailed();
    const answer = send(textRequest('hi'));
    await new Promise((resolve) => setImmediate(resolve));
    service.executions.interruptWith = undefined;
    expect(await answer).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(at).toEqual(['1', '2']);
  });

  it.each([
    ['refuses it', new FakeExecutor(echo, undefined, refusing)],
    ['answers it with a Message', new FakeExecutor(echo, greeting)],
  ])('is judged by the newest revision where the one known of %s', async (_what, executor) => {
    serviceThatSaw({ executor });
    expect(await send(textRequest('hi'))).toMatchObject({ task: { artifacts: [{ parts: [{ text: 'hi' }] }] } });
    expect(at).toEqual(['1', '2']);
  });

  it('is refused as the newest revision refuses it, once', async () => {
    serviceThatSaw({});
    const newest = servedAgent(PATH, new FakeExecutor(echo, undefined, refusing), { version: '2' });
    service.catalog.resolveAgent = async () => newest;
    service.catalog.findCachedAgent = () => ({ ...newest, version: '1', premise });
    await expect(send(textRequest('hi'))).rejects.toThrow('not any more');
    expect(at).toEqual(['1', '2']);
  });

  it.each([
    ['under a key', { idempotencyKey: 'k' }, {}],
    ['at a revision', { revision: '2' }, {}],
    ['that asks for extensions', { extensions: ['urn:x'] }, {}],
    ['that follows up', {}, { taskId: 'missing' }],
  ])('%s is a matter of the newest revision', async (_what, fields, message) => {
    serviceThatSaw({});
    await send(textRequest('hi', message), fields).catch(() => undefined);
    expect(at.at(-1)).toBe('2');
  });

  it('is streamed where the newest revision streams, though the one known of does not', async () => {
    serviceThatSaw({ capabilities: { streaming: false } });
    const call = callTo(PATH);
    const events: unknown[] = [];
    const operation = OPERATIONS.SendStreamingMessage;
    await operation.at(service.handler, call, async (agent) => {
      at.push(agent.version);
      const items = operation.openStream(service.handler, agent, textRequest('hi'), call, {});
      for await (const { response } of items) events.push(response);
    });
    expect(at).toEqual(['1', '2']);
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  it('does nothing twice where what was taken in fails', async () => {
    serviceThatSaw({});
    service.executions.interruptWith = new Error('a fault of ours');
    await expect(send(textRequest('hi'))).rejects.toThrow('a fault of ours');
    expect(at).toEqual(['1']);
    expect(service.store.size).toBe(1);
  });
});

describe('a Task that is read at an agent that is known of before', () => {
  const { GetTask } = OPERATIONS;
  let taskId: string;
  /** Preconditions (`premise`) with which the Task was read, in order. */
  let premises: unknown[];

  beforeEach(async () => {
    serviceThatSaw({});
    const { task } = (await send(textRequest('hi'))) as { task: { id: string } };
    taskId = task.id;
    [at, premises] = [[], []];
  });

  /** Reads the Task with the cached agent. @param holds true if the cached agent is still the newest revision */
  async function read(holds: boolean): Promise<unknown> {
    service.store.isNewest = (given) => {
      premises.push(given);
      return holds;
    };
    let answer: unknown;
    await GetTask.at(service.handler, callTo(PATH), async (agent) => {
      at.push(agent.version);
      answer = await GetTask.runOperation(service.handler, agent, { id: taskId }, callTo(PATH));
    });
    return answer;
  }

  it('is read together with whether that is the newest revision', async () => {
    expect(await read(true)).toMatchObject({ id: taskId });
    expect([at, premises]).toEqual([['1'], [premise]]);
  });

  it('is read at the newest revision where that is another one', async () => {
    expect(await read(false)).toMatchObject({ id: taskId });
    expect([at, premises]).toEqual([['1', '2'], [premise]]);
  });

  it('that is not there is missed at the newest revision', async () => {
    taskId = 'missing';
    await expect(read(true)).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect(at).toEqual(['1', '2']);
  });

  it('is refused at the newest revision where the request is wrong', async () => {
    taskId = '';
    await expect(read(true)).rejects.toThrow('id');
    expect([at, premises]).toEqual([['1', '2'], []]);
  });
});

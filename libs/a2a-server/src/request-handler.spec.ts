import { EventEmitter } from 'node:events';
import { ExecutionInterrupted } from '#libs/agents';
import {
  type SendMessageRequest,
  type SendMessageResponse,
  statusUpdate,
  submittedTask,
  type Task,
  userMessage,
} from '#libs/protocol';
import { until } from '../../../test/support/until.js';
import type { StreamItem } from './task-stream.js';
import { echo, FakeExecutor, servedAgent } from './testing/fake-agents.js';
import { callTo, type FakeService, fakeService, textRequest } from './testing/fake-service.js';
import { taskHeader } from './testing/memory-task-store.js';

let service: FakeService;

beforeEach(() => {
  service = fakeService();
});

async function send(path: string, request: SendMessageRequest): Promise<SendMessageResponse> {
  const { handler } = service;
  return handler.sendMessage(await handler.resolveAgent(callTo(path)), request, callTo(path));
}

async function sendForTask(path: string, request: SendMessageRequest): Promise<Task> {
  const answer = await send(path, request);
  if (!('task' in answer)) throw new Error('Expected a task');
  return answer.task;
}

async function stream(path: string, request: SendMessageRequest): Promise<StreamItem[]> {
  const { handler } = service;
  return collect(handler.sendStreamingMessage(await handler.resolveAgent(callTo(path)), request, callTo(path)));
}

async function subscribe(path: string, id: string, since?: number): Promise<StreamItem[]> {
  const { handler } = service;
  return collect(handler.subscribeToTask(await handler.resolveAgent(callTo(path)), { id }, callTo(path), { since }));
}

function taskOf(item: StreamItem | undefined): Task {
  if (!item || !('task' in item.response)) throw new Error('Expected a task');
  return item.response.task;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('SendMessage', () => {
  it('answers with the finished task', async () => {
    const task = await sendForTask('workflows/echo', textRequest('hi'));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'hi' }]);
  });

  it('answers at once with returnImmediately', async () => {
    const request = { ...textRequest('hi'), configuration: { returnImmediately: true } };
    expect((await sendForTask('workflows/hang', request)).status.state).toBe('TASK_STATE_SUBMITTED');
  });

  it('gives as much history as was asked for', async () => {
    const none = await sendForTask('workflows/echo', { ...textRequest('a'), configuration: { historyLength: 0 } });
    expect(none).not.toHaveProperty('history');
    const one = await sendForTask('workflows/ask', { ...textRequest('b'), configuration: { historyLength: 1 } });
    expect(one.history).toHaveLength(1);
    expect(one.history?.[0]?.role).toBe('ROLE_AGENT');
  });

  it('answers with a direct message and makes no task', async () => {
    expect(await send('workflows/greet', textRequest('hi'))).toMatchObject({ message: { parts: [{ text: 'Hello' }] } });
    expect(service.store.size).toBe(0);
  });

  it('goes on with a waiting task', async () => {
    const first = await sendForTask('workflows/ask', textRequest('paint'));
    expect(first.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const second = await sendForTask('workflows/ask', textRequest('blue', { taskId: first.id }));
    expect(second.id).toBe(first.id);
    expect(second.contextId).toBe(first.contextId);
    expect(second.history?.map((it) => it.parts[0]?.text)).toEqual(['paint', 'Which colour?', 'blue']);
  });

  it('routes a message to the service by its skill, or by the tenant', async () => {
    const skill = await sendForTask('', textRequest('hi', { metadata: { skillId: 'echo' } }));
    expect((await service.store.readHeader(skill.id))?.agent).toBe('workflows/echo');
    const tenant = await sendForTask('', { ...textRequest('ho'), tenant: 'ask' });
    expect((await service.store.readHeader(tenant.id))?.agent).toBe('workflows/ask');
  });

  it('follows no task whose caller has left, however long another process works on it', async () => {
    const { executions } = service;
    const begin = executions.beginExecution.bind(executions);
    executions.beginExecution = (...begun) => {
      const settled = Promise.reject<Task>(new ExecutionInterrupted());
      settled.catch(() => undefined);
      return { ...begin(...begun), settled };
    };
    const client = new EventEmitter();
    const whenAnswered = (done: () => void): boolean => client.once('close', done) === client;
    const call = { ...callTo('workflows/hang'), whenAnswered };
    const answer = service.handler.sendMessage(await service.handler.resolveAgent(call), textRequest('hi'), call);
    await until(() => client.listenerCount('close') > 0);
    client.emit('close');
    await expect(answer).rejects.toThrow('The client left before it had its answer');
  });

  it('still answers when another process finishes the task', async () => {
    service.executions.interruptWith = new ExecutionInterrupted();
    expect((await sendForTask('workflows/echo', textRequest('hi'))).status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('refusals of SendMessage', () => {
  it('writes nothing', async () => {
    const refusing = new FakeExecutor(echo, undefined, () => {
      throw new Error('refused by the executor');
    });
    service = fakeService([servedAgent('workflows/picky', refusing, { inputModes: ['text/plain'] })]);
    const image = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ raw: '', mediaType: 'image/png' }] };
    const push = { ...textRequest('hi'), configuration: { taskPushNotificationConfig: { url: 'http://a' } } };
    await expect(send('workflows/picky', textRequest('hi'))).rejects.toThrow('refused by the executor');
    await expect(send('workflows/picky', { message: image })).rejects.toMatchObject({ code: -32005 });
    await expect(send('workflows/echo', push)).rejects.toMatchObject({ code: -32003 });
    await expect(send('workflows/echo', textRequest('hi', { taskId: 'nope' }))).rejects.toMatchObject({ code: -32001 });
    await expect(send('', textRequest('hi'))).rejects.toMatchObject({ code: -32602 });
    await expect(send('', textRequest('hi', { metadata: { skillId: 7 } }))).rejects.toMatchObject({ code: -32602 });
    expect(service.store.size).toBe(0);
  });

  it('refuses a context that is not the task’s, a task that has ended, and one of another agent', async () => {
    const waiting = await sendForTask('workflows/ask', textRequest('a'));
    const ended = await sendForTask('workflows/echo', textRequest('b'));
    await expect(
      send('workflows/ask', textRequest('c', { taskId: waiting.id, contextId: 'other' })),
    ).rejects.toMatchObject({
      code: -32602,
      violations: [{ field: 'message.contextId' }],
    });
    await expect(send('workflows/echo', textRequest('d', { taskId: ended.id }))).rejects.toMatchObject({
      code: -32004,
    });
    await expect(send('workflows/echo', textRequest('e', { taskId: waiting.id }))).rejects.toMatchObject({
      code: -32001,
    });
    expect((await service.store.readHeader(waiting.id))?.lastSequence).toBe(2);
  });

  it('refuses a task of another owner as if it did not exist', async () => {
    const reference = { taskId: 'theirs', contextId: 'c' };
    const header = taskHeader({ ...reference, owner: 'somebody' });
    service.record('theirs', { task: submittedTask(reference, userMessage('x')) }, header);
    await expect(send('workflows/echo', textRequest('a', { taskId: 'theirs' }))).rejects.toMatchObject({
      code: -32001,
    });
    await expect(subscribe('workflows/echo', 'theirs')).rejects.toMatchObject({ code: -32001 });
  });
});

describe('SendStreamingMessage', () => {
  it('begins with the task and carries every sequence once', async () => {
    const items = await stream('workflows/echo', textRequest('hi'));
    expect(items.map((it) => it.sequence)).toEqual([1, 2, 3, 4]);
    expect(items.map((it) => Object.keys(it.response)[0])).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    for (const item of items) expect(JSON.parse(item.json)).toEqual(JSON.parse(JSON.stringify(item.response)));
  });

  it('closes when the task waits, and goes on with the next message', async () => {
    const first = await stream('workflows/ask', textRequest('paint'));
    expect(first.map((it) => it.sequence)).toEqual([1, 2]);
    const task = taskOf(first[0]);
    const second = await stream('workflows/ask', textRequest('blue', { taskId: task.id }));
    expect(second.map((it) => it.sequence)).toEqual([3, 4, 5, 6]);
  });

  it('is one message where no task is needed', async () => {
    const items = await stream('workflows/greet', textRequest('hi'));
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ response: { message: { role: 'ROLE_AGENT' } } });
    expect(items[0]?.sequence).toBeUndefined();
  });

  it('ends with its signal and leaves the task alone', async () => {
    const { handler } = service;
    const abort = new AbortController();
    const agent = await handler.resolveAgent(callTo('workflows/hang'));
    const items = handler.sendStreamingMessage(agent, textRequest('hi'), callTo('workflows/hang'), abort.signal);
    const first = await items.next();
    await items.next();
    setImmediate(() => abort.abort());
    expect((await items.next()).done).toBe(true);
    const task = taskOf(first.value as StreamItem);
    expect((await service.store.readHeader(task.id))?.state).toBe('TASK_STATE_WORKING');
  });
});

describe('SubscribeToTask', () => {
  function startTask(): { taskId: string; contextId: string } {
    const reference = { taskId: 'live', contextId: 'c' };
    service.record('live', { task: submittedTask(reference, userMessage('x')) }, taskHeader(reference));
    service.record('live', statusUpdate(reference, 'TASK_STATE_WORKING', 'one'));
    service.record('live', statusUpdate(reference, 'TASK_STATE_WORKING', 'two'));
    return reference;
  }

  it('begins with the task as it stands and ends with it', async () => {
    const reference = startTask();
    setImmediate(() => service.record('live', statusUpdate(reference, 'TASK_STATE_COMPLETED')));
    const items = await subscribe('workflows/echo', 'live');
    expect(items.map((it) => it.sequence)).toEqual([3, 4]);
    expect(items[0]?.response).toMatchObject({ task: { history: { length: 3 } } });
  });

  it.each([
    [0, [1, 2, 3, 4]],
    [1, [1, 2, 3, 4]],
    [2, [2, 3, 4]],
    [4, [4]],
  ])('resumes after %d on a task that has ended', async (since, sequences) => {
    const reference = startTask();
    service.record('live', statusUpdate(reference, 'TASK_STATE_COMPLETED'));
    const items = await subscribe('workflows/echo', 'live', since);
    expect(items.map((it) => it.sequence)).toEqual(sequences);
    expect(items[0]?.response).toHaveProperty('task');
  });

  it.each([0, 1, 2, 4])('asks once for a short log after %d, and shows what a long one would', async (since) => {
    const reference = startTask();
    service.record('live', statusUpdate(reference, 'TASK_STATE_COMPLETED'));
    const { store } = service;
    const log = (await store.readLog('live'))!;
    store.readLog = async () => ({ header: log.header });
    const long = await subscribe('workflows/echo', 'live', since);
    const more = () => Promise.reject(new Error('The store was asked again'));
    Object.assign(store, { log: async () => log, header: more, load: more, events: more });
    const short = await subscribe('workflows/echo', 'live', since);
    const shown = (items: StreamItem[]) => items.map(({ sequence, response }) => [sequence, response]);
    expect(shown(short)).toEqual(shown(long));
  });

  it('shows the task as it stood at the cursor', async () => {
    const reference = startTask();
    service.record('live', statusUpdate(reference, 'TASK_STATE_COMPLETED'));
    const [first] = await subscribe('workflows/echo', 'live', 2);
    expect(first?.response).toMatchObject({
      task: { status: { state: 'TASK_STATE_WORKING' }, history: { length: 2 } },
    });
  });

  it('refuses a task that has ended without a cursor, and a cursor beyond the log', async () => {
    const reference = startTask();
    await expect(subscribe('workflows/echo', 'live', 4)).rejects.toMatchObject({ code: -32602 });
    service.record('live', statusUpdate(reference, 'TASK_STATE_COMPLETED'));
    await expect(subscribe('workflows/echo', 'live')).rejects.toMatchObject({ code: -32004 });
  });
});

describe('GetTask, CancelTask, ListTasks', () => {
  const at = async (path: string) => ({ agent: await service.handler.resolveAgent(callTo(path)), call: callTo(path) });

  it('finds a task at its agent, at the alias of its node and at the service, nowhere else', async () => {
    const { id } = await sendForTask('workflows/flow/nodes/copy', textRequest('hi'));
    for (const path of ['workflows/flow/nodes/copy', 'nodes/copy', '']) {
      const { agent, call } = await at(path);
      expect((await service.handler.getTask(agent, { id }, call)).id).toBe(id);
    }
    const { agent, call } = await at('workflows/echo');
    await expect(service.handler.getTask(agent, { id }, call)).rejects.toMatchObject({
      code: -32001,
      metadata: { taskId: id },
    });
  });

  it('cancels what has not ended', async () => {
    const request = { ...textRequest('hi'), configuration: { returnImmediately: true } };
    const { id } = await sendForTask('workflows/hang', request);
    const { agent, call } = await at('');
    expect((await service.handler.cancelTask(agent, { id }, call)).status.state).toBe('TASK_STATE_CANCELED');
    await expect(service.handler.cancelTask(agent, { id }, call)).rejects.toMatchObject({ code: -32002 });
    await expect(service.handler.cancelTask(agent, { id: 'nope' }, call)).rejects.toMatchObject({ code: -32001 });
  });

  it('waits for the end of a canceled task until its caller leaves', async () => {
    const request = { ...textRequest('hi'), configuration: { returnImmediately: true } };
    const { id } = await sendForTask('workflows/hang', request);
    const { agent, call } = await at('workflows/hang');
    const client = new EventEmitter();
    let gone: AbortSignal | undefined;
    const { executions } = service;
    executions.cancelAndWait = async (...asked: Parameters<typeof executions.cancelAndWait>) => {
      gone = asked[3];
      return (await service.store.loadTask(id))!.task;
    };
    await service.handler.cancelTask(agent, { id }, { ...call, whenAnswered: (done) => !!client.once('close', done) });
    expect(gone?.aborted).toBe(false);
    client.emit('close');
    expect(gone?.aborted).toBe(true);
  });

  it('looks at the row of a task alone, and at no log, where that tells enough', async () => {
    const task = await sendForTask('workflows/echo', textRequest('hi'));
    service.store.loadTask = () => Promise.reject(new Error('A log was read'));
    const { handler } = service;
    const call = callTo('workflows/echo');
    const agent = await handler.resolveAgent(call);
    await expect(handler.cancelTask(agent, { id: task.id }, call)).rejects.toMatchObject({
      reason: 'TASK_NOT_CANCELABLE',
    });
    await expect(subscribe('workflows/echo', task.id)).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    const late = { message: userMessage('late', { taskId: task.id }) };
    await expect(send('workflows/echo', late)).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    await expect(send('workflows/ask', late)).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it('pages through every task once, newest first', async () => {
    for (let index = 0; index < 7; index++) {
      const reference = { taskId: `t${index}`, contextId: index % 2 ? 'odd' : 'even' };
      const task = submittedTask(reference, userMessage('x'));
      task.status.timestamp = new Date(1000 * Math.floor(index / 2)).toISOString();
      service.record(reference.taskId, { task }, taskHeader(reference));
    }
    const { agent, call } = await at('workflows/echo');
    const seen: string[] = [];
    let pageToken: string | undefined;
    do {
      const page = await service.handler.listTasks(agent, { pageSize: 3, pageToken }, call);
      expect(page).toMatchObject({ totalSize: 7, pageSize: 3 });
      seen.push(...page.tasks.map((it) => it.id));
      pageToken = page.nextPageToken || undefined;
    } while (pageToken);
    expect(seen).toEqual(['t6', 't5', 't4', 't3', 't2', 't1', 't0']);
    const odd = await service.handler.listTasks(agent, { contextId: 'odd' }, call);
    expect(odd).toMatchObject({ totalSize: 3, nextPageToken: '', pageSize: 50 });
    const late = await service.handler.listTasks(agent, { statusTimestampAfter: new Date(3000).toISOString() }, call);
    expect(late.tasks.map((it) => it.id)).toEqual(['t6']);
    await expect(service.handler.listTasks(agent, { pageToken: '?' }, call)).rejects.toMatchObject({ code: -32602 });
  });

  it('lists artifacts only when asked, and only the tasks of the agent', async () => {
    await sendForTask('workflows/echo', textRequest('hi'));
    await sendForTask('workflows/ask', textRequest('ho'));
    const { agent, call } = await at('workflows/echo');
    const plain = await service.handler.listTasks(agent, {}, call);
    expect(plain.tasks).toHaveLength(1);
    expect(plain.tasks[0]).not.toHaveProperty('artifacts');
    const service_ = await at('');
    const full = await service.handler.listTasks(
      service_.agent,
      { includeArtifacts: true, historyLength: 0 },
      service_.call,
    );
    expect(full.tasks.map((it) => it.artifacts?.length)).toEqual(expect.arrayContaining([0, 1]));
    expect(full.tasks[0]).not.toHaveProperty('history');
  });
});

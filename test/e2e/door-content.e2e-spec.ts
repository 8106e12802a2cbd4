import type { JsonValue, Part, StreamResponse } from '#libs/protocol';
import { getTask, outline, rest, rpc, send, sendTask, stream, subscribe } from '../support/a2a.js';
import { ARTIFACTS, CHUNKS, DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { useSharedStage } from '../support/shared-stage.js';

const stage = useSharedStage();

/** Parts of every kind. */
const PARTS: Part[] = [
  { text: 'two texts', mediaType: 'text/plain', metadata: { first: true } },
  { text: 'and # a second', mediaType: 'text/markdown' },
  { data: { null: null, list: [1, [2, { deep: null }]], exact: 2 ** 53, half: 0.5 }, mediaType: 'application/json' },
  { data: [null, 'a list'] as JsonValue, mediaType: 'application/json' },
  { raw: Buffer.from('the bytes').toString('base64'), mediaType: 'image/png', filename: 'a picture.png' },
  { url: 'https://files.example.com/a.pdf', mediaType: 'application/pdf', filename: 'a.pdf', metadata: { page: 3 } },
];

async function startAgent(options: Parameters<typeof DoorAgent.start>[0] = {}): Promise<DoorAgent> {
  const agent = await DoorAgent.start(options);
  stage.defer(() => agent.end());
  return agent;
}

/** Removes empty members, which the SDK writes and JSON may omit. */
function plain(parts: readonly Part[] = []): object[] {
  return parts.map((part) =>
    Object.fromEntries(
      Object.entries(part).filter(([name, value]) => value !== '' && (name !== 'metadata' || hasMembers(value))),
    ),
  );
}

function hasMembers(value: unknown): boolean {
  return Object.keys((value ?? {}) as object).length > 0;
}

async function items(base: string, content: string | Part[]): Promise<StreamResponse[]> {
  const reader = await stream(base, content);
  return (await reader.all()).map(({ data }) => data.result!);
}

describe.each([
  ['JSONRPC', true],
  ['JSONRPC', false],
  ['HTTP+JSON', true],
  ['HTTP+JSON', false],
] as const)('the door before an agent of the SDK over %s (streaming: %p)', (binding, streaming) => {
  it('passes Parts of every kind down, and all that the agent says up', async () => {
    const agent = await startAgent({ binding, streaming });
    const { base } = await openDoor(stage.parley.url, agent.url);
    const task = await sendTask(base, PARTS, {
      fields: { messageId: 'of the caller', metadata: { traveller: 'ann' }, extensions: ['urn:example:one'] },
    });
    const [heard] = agent.heard;
    expect(plain(heard?.parts)).toEqual(plain(PARTS));
    const said = { messageId: 'of the caller', metadata: { traveller: 'ann' }, extensions: ['urn:example:one'] };
    expect(heard).toMatchObject(said);
    expect(JSON.stringify(heard)).not.toContain('parley');
    expect(task.status).toMatchObject({ state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: 'done' }] } });
    expect(task.artifacts).toHaveLength(1);
    expect(task.artifacts?.[0]).toMatchObject({
      ...{ artifactId: 'echo', name: 'echo.out', description: 'what came' },
      metadata: { of: 'echo' },
      extensions: ['urn:example:artifact'],
    });
    expect(plain(task.artifacts?.[0]?.parts)).toEqual(plain(PARTS));
    const history = task.history?.map(({ role, parts: [part] }) => [role, part?.text]);
    expect(history).toEqual([
      ['ROLE_USER', 'two texts'],
      ['ROLE_AGENT', 'on it'],
      ['ROLE_AGENT', 'done'],
    ]);
    expect(task.history?.every((it) => it.taskId === task.id && it.contextId === task.contextId)).toBe(true);
    expect(JSON.stringify(task)).not.toContain(heard?.taskId);
    expect(JSON.stringify(task)).not.toContain(heard?.contextId);
  });

  it('passes a question up, and its answer down to the same Task of the agent', async () => {
    const agent = await startAgent({ binding, streaming });
    const { base } = await openDoor(stage.parley.url, agent.url);
    const messageId = 'of every message';
    const asked = await sendTask(base, 'ask', { fields: { messageId } });
    expect(asked.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'which?' }, { data: { of: [1] } }], metadata: { of: 'agent' } },
    });
    const { id: taskId, contextId } = asked;
    const done = await sendTask(base, 'that one', { fields: { messageId, taskId, contextId } });
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(plain(done.artifacts?.[0]?.parts)).toMatchObject([{ text: 'that one' }]);
    const [first, second] = agent.heard;
    expect(second?.taskId).toBe(first?.taskId);
    expect(second?.taskId).not.toBe(taskId);
    const next = await sendTask(base, 'later', { fields: { contextId, referenceTaskIds: [taskId, 'stranger'] } });
    expect(next.contextId).toBe(contextId);
    expect(agent.heard[2]).toMatchObject({ contextId: first?.contextId, referenceTaskIds: [first?.taskId] });
  });

  it('gives a direct Message as one, and keeps its Task readable', async () => {
    const agent = await startAgent({ binding, streaming });
    const { base } = await openDoor(stage.parley.url, agent.url);
    const answer = await send(base, 'direct');
    expect(answer).toMatchObject({ message: { role: 'ROLE_AGENT', parts: [{ text: 'at once' }] } });
    expect(await items(base, 'direct')).toMatchObject([{ message: { parts: [{ text: 'at once' }] } }]);
    const { body } = await rpc<{ tasks: { id: string }[] }>(base, 'ListTasks', {});
    const tasks = await Promise.all((body.result?.tasks ?? []).map(({ id }) => getTask(base, id)));
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
  });

  it.each([
    ['login', 'TASK_STATE_AUTH_REQUIRED'],
    ['refuse', 'TASK_STATE_REJECTED'],
    ['fail', 'TASK_STATE_FAILED'],
  ])('ends a turn of %s as the agent does', async (text, state) => {
    const agent = await startAgent({ binding, streaming });
    const { base } = await openDoor(stage.parley.url, agent.url);
    const { status } = await sendTask(base, text);
    expect(status).toMatchObject({ state, message: { parts: [{ text: `${text}: why` }] } });
  });

  it('cancels the Task of the agent, and ends as it says', async () => {
    const agent = await startAgent({ binding, streaming });
    const { base } = await openDoor(stage.parley.url, agent.url);
    const { id } = await sendTask(base, 'hold', { configuration: { returnImmediately: true } });
    await agent.untilHolding();
    const { body } = await rpc<{ status: object }>(base, 'CancelTask', { id });
    expect(body.error).toBeUndefined();
    expect(body.result?.status).toMatchObject({
      state: 'TASK_STATE_CANCELED',
      message: { parts: [{ text: 'stopped' }] },
    });
  });
});

it('streams exactly what the agent says', async () => {
  const agent = await startAgent();
  const { base } = await openDoor(stage.parley.url, agent.url);
  const said = await items(base, 'hello');
  expect(said.map(outline)).toEqual([
    'task TASK_STATE_SUBMITTED',
    'status TASK_STATE_WORKING',
    'artifact hello',
    'status TASK_STATE_COMPLETED',
  ]);
  expect(said[1]).toMatchObject({ statusUpdate: { metadata: { step: 1 } } });
  expect(said[2]).toMatchObject({ artifactUpdate: { lastChunk: true, metadata: { event: 'echo' } } });
});

it('keeps the order of 64 Artifacts in 1,000 chunks', async () => {
  const agent = await startAgent();
  const { base } = await openDoor(stage.parley.url, agent.url);
  const said = await items(base, 'many');
  const chunks = said.flatMap((it) => ('artifactUpdate' in it ? it.artifactUpdate : []));
  expect(chunks.map(({ artifact }) => artifact.parts[0]?.text?.trim())).toEqual(
    Array.from({ length: CHUNKS }, (_, n) => String(n)),
  );
  expect(chunks.filter(({ append }) => !append)).toHaveLength(ARTIFACTS);
  const [first] = said;
  if (!first || !('task' in first)) throw new Error('The stream does not begin with the Task');
  const task = await getTask(base, first.task.id);
  expect(task.artifacts).toHaveLength(ARTIFACTS);
  expect(task.artifacts?.[1]?.parts.map(({ text }) => Number(text))).toEqual(
    Array.from({ length: CHUNKS }, (_, n) => n).filter((n) => n % ARTIFACTS === 1),
  );
  const reader = await subscribe(base, first.task.id, CHUNKS);
  const rest1 = (await reader.all()).map(({ data }) => data.result!);
  expect(rest1.slice(1)).toEqual(said.slice(CHUNKS));
});

it('serves the agent over REST and over A2A 0.3', async () => {
  const agent = await startAgent();
  const { base } = await openDoor(stage.parley.url, agent.url);
  const sent = { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'by rest' }] } };
  const { body } = await rest<{ task: object }>(base, 'POST', '/message:send', { body: sent });
  expect(body.task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ name: 'echo.out' }] });
  const legacy = { kind: 'message', messageId: 'm2', role: 'user', parts: [{ kind: 'text', text: 'by 0.3' }] };
  const old = await rpc<object>(base, 'message/send', { message: legacy }, { headers: { 'a2a-version': '0.3' } });
  expect(old.body.result).toMatchObject({
    kind: 'task',
    status: { state: 'completed' },
    artifacts: [{ parts: [{ kind: 'text', text: 'by 0.3' }] }],
  });
});

it('rounds numbers that are no double, as the protocol has them', async () => {
  const agent = await startAgent();
  const { base } = await openDoor(stage.parley.url, agent.url);
  const sent = JSON.stringify({ messageId: 'm', role: 'ROLE_USER', parts: [{ data: { exact: 0 } }] });
  const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":${sent.replace(':0}', ':9007199254740993}')}}}`;
  const reply = await rpc<{ task: object }>(base, 'SendMessage', undefined, { body });
  expect(agent.heard[0]?.parts[0]?.data).toEqual({ exact: 2 ** 53 });
  expect(JSON.stringify(reply.body.result)).toContain('9007199254740992');
});

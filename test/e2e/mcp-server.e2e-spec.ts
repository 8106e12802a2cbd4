import type { JsonObject, Task } from '#libs/protocol';
import { getTask, sendTask } from '../support/a2a.js';
import { ERAS, mcp, mcpClient, post } from '../support/mcp.js';
import { useSharedStage } from '../support/shared-stage.js';
import { before, until } from '../support/until.js';
import { echo, input, linear, output, ruled, script, unique } from '../support/workflow.js';

const stage = useSharedStage();
const [greeting, plain, asks, approval, fails, slow, both] = [
  'greet',
  'plain',
  'asks',
  'approve',
  'fails',
  'slow',
  'both',
].map(unique) as [string, string, string, string, string, string, string];
const FORM = { type: 'object', properties: { ok: { type: 'boolean' }, why: { type: 'string' } }, required: ['ok'] };
const TOPIC = { schema: { type: 'string', minLength: 2 } };

const all = (): string => `${stage.parley.url}/mcp`;
const only = (name: string): string => `${all()}/workflows/${name}`;

beforeAll(async () => {
  const { api } = stage;
  const greet = linear(
    greeting,
    { ...input('topic'), config: TOPIC },
    echo('w', { prompt: 'Hello {{topic}}' }),
    output('out'),
  );
  await api.save({ ...greet, description: 'Greets' });
  await api.save(linear(plain, echo('e')));
  const first = { when: { turn: 1 }, steps: [{ ask: 'Which?' }] };
  const then: JsonObject[] = [{ artifact: { parts: [{ text: 'heard {{text}}' }] } }, { complete: 'done' }];
  await api.save(linear(asks, input('in'), ruled('q', [first], then), output('out')));
  await api.save(
    linear(approval, { id: 'h', type: 'human', config: { prompt: 'Approve?', form: FORM } }, output('out')),
  );
  await api.save({
    name: both,
    nodes: [
      { id: 'left', type: 'human', config: { prompt: 'Left?', form: FORM } },
      { id: 'right', type: 'human', config: { prompt: 'Right?', form: FORM } },
      { ...output('out'), config: { prompt: '{{left}} {{right}}' } },
    ],
    edges: ['left', 'right'].map((from) => ({ from, to: 'out' })),
  });
  await api.save(linear(fails, script('f', { fail: 'no luck' })));
  await api.save(linear(slow, script('s', { status: 'working' }, { sleep: 60_000 }, { complete: 'late' })));
});

/** The newest Task of a workflow. */
async function newest(workflow: string): Promise<Task> {
  const { body } = await stage.api.call<{ runs: { runId: string }[] }>('GET', `/runs?workflow=${workflow}`);
  return getTask(stage.api.base(workflow), body.runs[0]?.runId ?? '');
}

async function runsOf(workflow: string): Promise<number> {
  const rows = await stage.database.query('SELECT 1 FROM task WHERE agent = $1', [`workflows/${workflow}`]);
  return rows.length;
}

describe.each(ERAS)('the official client in %s', (version, mode) => {
  it('finds each workflow as a tool, and runs it', async () => {
    const client = await mcpClient(all(), { mode });
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === greeting)).toEqual({
      name: greeting,
      description: 'Greets',
      inputSchema: {
        type: 'object',
        properties: { topic: { description: 'The input of the node topic', ...TOPIC.schema } },
        required: ['topic'],
      },
    });
    expect(tools.find(({ name }) => name === plain)?.inputSchema.properties).toMatchObject({
      text: { type: 'string' },
    });
    const seen: (string | undefined)[] = [];
    const onprogress = ({ message }: { message?: string }) => void seen.push(message);
    const result = await client.callTool({ name: greeting, arguments: { topic: 'Ada' } }, { onprogress });
    expect(result).toMatchObject({
      content: [{ type: 'text', text: 'Hello Ada' }],
      structuredContent: { out: 'Hello Ada' },
    });
    expect(seen).toContain('w completed');
    const task = await newest(greeting);
    expect(result._meta).toMatchObject({ 'parley/taskId': task.id, 'parley/contextId': task.contextId });
    expect(await client.callTool({ name: plain, arguments: { text: 'hey' } })).toMatchObject({
      structuredContent: { e: 'hey' },
    });
    await client.close();
  });

  it('is told what is wrong with which argument, and nothing is begun', async () => {
    const client = await mcpClient(only(greeting), { mode });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([greeting]);
    const runs = await runsOf(greeting);
    for (const [args, text] of [
      [{}, 'inputs.topic: is required'],
      [{ topic: 'A' }, 'inputs.topic: must NOT have fewer than 2 characters'],
      [{ topic: 'Ada', tone: 'warm' }, 'inputs.tone: is not an input of this workflow; the inputs are topic'],
    ] as const) {
      const result = await client.callTool({ name: greeting, arguments: args });
      expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text }] });
    }
    expect(await runsOf(greeting)).toBe(runs);
    await client.close();
  });

  it('has its user asked, and goes on with the answer', async () => {
    const questions: JsonObject[] = [];
    const answers = (question: JsonObject): JsonObject => {
      questions.push(question);
      const isForm = 'ok' in ((question['requestedSchema'] as JsonObject)['properties'] as JsonObject);
      return { action: 'accept', content: isForm ? { ok: true, why: 'fine' } : { answer: 'blue' } };
    };
    const client = await mcpClient(all(), { mode, answers });
    expect(await client.callTool({ name: asks, arguments: { in: 'x' } })).toMatchObject({
      structuredContent: { out: 'heard blue' },
    });
    const approved = await client.callTool({ name: approval, arguments: {} });
    expect(approved).toMatchObject({ structuredContent: { out: '{"ok":true,"why":"fine"}' } });
    expect(questions).toEqual([
      expect.objectContaining({ message: 'Which?' }),
      expect.objectContaining({ message: 'Approve?', requestedSchema: FORM }),
    ]);
    await client.close();
  });

  it('has all questions that are asked at once answered, also at once', async () => {
    const answers = ({ message }: JsonObject): JsonObject => ({
      action: 'accept',
      content: { ok: message === 'Left?' },
    });
    const client = await mcpClient(all(), { mode, answers });
    expect(await client.callTool({ name: both, arguments: {} })).toMatchObject({
      structuredContent: { out: '{"ok":true} {"ok":false}' },
    });
    await client.close();
  });

  it.each(['decline', 'cancel', 'an error'])(
    'ends where its user answers by %s, and the run still waits',
    async (how) => {
      const answers = (): JsonObject => {
        if (how === 'an error') throw new Error('no user');
        return { action: how };
      };
      const client = await mcpClient(all(), { mode, answers });
      const called = client.callTool({ name: asks, arguments: { in: 'x' } });
      if (mode === 'auto' && how === 'an error') await expect(called).rejects.toThrow('no user');
      else {
        const text = expect.stringMatching(/^The question was not answered; the run .* still waits for an answer$/);
        expect(await before(called, { what: 'the result' })).toMatchObject({ isError: true, content: [{ text }] });
      }
      const task = await newest(asks);
      expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      await stage.api.call('POST', `/runs/${task.id}/cancel`);
      await client.close();
    },
  );

  it('waits where its user cannot be asked, until somebody else answers', async () => {
    const client = await mcpClient(all(), { mode });
    const asked = Promise.withResolvers<void>();
    const onprogress = ({ message }: { message?: string }) => message === 'q asks: Which?' && asked.resolve();
    const result = client.callTool({ name: asks, arguments: { in: 'x' } }, { onprogress });
    await before(asked.promise, { what: 'the question' });
    await until(async () => (await newest(asks)).status.state === 'TASK_STATE_INPUT_REQUIRED');
    const { id: taskId } = await newest(asks);
    await sendTask(stage.api.base(asks), 'green', { fields: { taskId } });
    expect(await result).toMatchObject({ structuredContent: { out: 'heard green' } });
    await client.close();
  });

  it('gets a failed run as an error with the sentence that everybody gets, and an unknown tool as unknown', async () => {
    const client = await mcpClient(all(), { mode });
    expect(await client.callTool({ name: fails })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'node "f": no luck' }],
    });
    for (const name of ['nothing_here', `${greeting}/nodes/w`, '']) {
      await expect(client.callTool({ name })).rejects.toThrow(`workflow "${name}" not found`);
    }
    const elsewhere = await mcpClient(only(plain), { mode });
    await expect(elsewhere.callTool({ name: greeting })).rejects.toThrow(`workflow "${greeting}" not found`);
    await Promise.all([client.close(), elsewhere.close()]);
  });

  it('leaves, and the run goes on', async () => {
    const client = await mcpClient(all(), { mode });
    const left = new AbortController();
    const onprogress = () => left.abort();
    await expect(client.callTool({ name: slow }, { onprogress, signal: left.signal })).rejects.toThrow();
    await client.close();
    expect((await newest(slow)).status.state).toBe('TASK_STATE_WORKING');
    await stage.api.call('POST', `/runs/${(await newest(slow)).id}/cancel`);
  });
});

describe('a call by a client that knows tasks', () => {
  it('is a task from its first question on, under the id of its A2A Task', async () => {
    const { body } = await mcp(all(), 'tools/call', { name: asks, arguments: { in: 'x' } });
    const { id: taskId } = await newest(asks);
    expect(body.result).toMatchObject({ resultType: 'task', taskId, status: 'input_required', ttlMs: null });
    const asking = (await mcp(all(), 'tasks/get', { taskId })).body.result!;
    expect(asking).toMatchObject({ resultType: 'complete', status: 'input_required', statusMessage: 'Which?' });
    const [key = ''] = Object.keys(asking['inputRequests'] as JsonObject);
    const params = { message: 'Which?', requestedSchema: { type: 'object', required: ['answer'] } };
    expect(asking['inputRequests']).toMatchObject({ [key]: { method: 'elicitation/create', params } });

    const answer = (inputResponses: JsonObject) => mcp(all(), 'tasks/update', { taskId, inputResponses });
    for (const ignored of [
      { [key]: { action: 'decline' } },
      { other: { action: 'accept', content: { answer: 'x' } } },
    ]) {
      expect((await answer(ignored)).body.result).toMatchObject({ resultType: 'complete' });
      expect((await mcp(all(), 'tasks/get', { taskId })).body.result).toMatchObject({ inputRequests: { [key]: {} } });
    }
    await answer({ [key]: { action: 'accept', content: { answer: 'red' } } });
    const ended = await until(async () => {
      const { result } = (await mcp(only(asks), 'tasks/get', { taskId })).body;
      return result?.['status'] === 'completed' && result;
    });
    expect(ended).toMatchObject({ result: { structuredContent: { out: 'heard red' } } });
    expect((await mcp(all(), 'tasks/update', { taskId, inputResponses: {} })).body.result).toBeDefined();
    expect((await mcp(all(), 'tasks/cancel', { taskId })).body.result).toMatchObject({
      _meta: { 'parley/state': 'TASK_STATE_COMPLETED' },
    });
  });

  it('asks again what was answered wrong, as another question', async () => {
    const { body } = await mcp(all(), 'tools/call', { name: approval });
    const { taskId } = body.result as { taskId: string };
    const keys = async (): Promise<string[]> => {
      const { result } = (await mcp(all(), 'tasks/get', { taskId })).body;
      return Object.keys((result?.['inputRequests'] ?? {}) as JsonObject);
    };
    const [first = ''] = await keys();
    const answer = (key: string, content: JsonObject) =>
      mcp(all(), 'tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content } } });
    await answer(first, { why: 'no yes and no no' });
    const second = await until(async () => (await keys()).find((it) => it !== first), { what: 'the second question' });
    await answer(second, { ok: false });
    await until(async () => (await newest(approval)).status.state === 'TASK_STATE_COMPLETED');
  });

  it('is a task when it lasts, and is canceled as A2A cancels', async () => {
    const { body } = await mcp(all(), 'tools/call', { name: slow });
    const { taskId } = body.result as { taskId: string };
    expect(body.result).toMatchObject({ resultType: 'task', status: 'working' });
    expect((await mcp(all(), 'tasks/cancel', { taskId })).body.result).toMatchObject({
      _meta: { 'parley/state': 'TASK_STATE_CANCELED' },
    });
    expect((await mcp(all(), 'tasks/get', { taskId })).body.result).toMatchObject({ status: 'cancelled' });
    expect((await getTask(stage.api.base(slow), taskId)).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('is found at its own workflow and at all of them, and by clients that know tasks', async () => {
    const { body } = await mcp(all(), 'tools/call', { name: fails });
    const { 'parley/taskId': taskId } = (body.result as { _meta: JsonObject })._meta as { 'parley/taskId': string };
    const failed = { status: 'completed', result: { isError: true, content: [{ text: 'node "f": no luck' }] } };
    expect((await mcp(all(), 'tasks/get', { taskId })).body.result).toMatchObject(failed);
    expect((await mcp(only(plain), 'tasks/get', { taskId })).body.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('not found'),
    });
    const plainly = await mcp(all(), 'tasks/get', { taskId }, { capabilities: {} });
    expect(plainly.body.error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
    });
  });

  it.each([
    ['tasks/get', (id: string) => ({ taskId: id })],
    ['tasks/update', (id: string) => ({ taskId: id, inputResponses: {} })],
    ['tasks/cancel', (id: string) => ({ taskId: id })],
    ['tools/call', (id: string) => ({ name: plain, requestState: id, inputResponses: {} })],
  ])('an id with a NUL is none to %s', async (method, params) => {
    for (const id of ['\u0000', 'a\u0000b']) {
      const name = method === 'tools/call' ? plain : `=?base64?${Buffer.from(id).toString('base64')}?=`;
      const { error } = (await mcp(all(), method, params(id), { headers: { 'mcp-name': name } })).body;
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('not found') });
    }
  });
});

describe('a call', () => {
  it('under an Idempotency-Key that was used is the same run, and its context may be one that there is', async () => {
    const headers = { 'idempotency-key': unique('key') };
    const params = { name: greeting, arguments: { topic: 'Ada' } };
    const [first, again] = [
      await mcp(all(), 'tools/call', params, { headers }),
      await mcp(all(), 'tools/call', params, { headers }),
    ];
    expect(again.body.result?.['_meta']).toEqual(first.body.result?.['_meta']);
    const other = await mcp(all(), 'tools/call', { ...params, arguments: { topic: 'Bob' } }, { headers });
    expect(other.text).toContain('IDEMPOTENCY_CONFLICT');
    const { contextId } = await newest(greeting);
    const client = await mcpClient(all(), { mode: 'auto' });
    const _meta = { 'parley/contextId': contextId };
    const result = await client.callTool({ ...params, _meta });
    expect(result._meta).toMatchObject(_meta);
    await client.close();
  });

  it('of an unknown workflow’s address is 404, and GET, a batch, a bad text and no JSON are refused', async () => {
    const refusals = [
      await mcp(only('nothing_here'), 'tools/list'),
      await mcp(only(`${greeting}%2Fnodes%2Fw`), 'tools/list'),
      await post(all(), [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }]),
      await post(all(), 'text'),
    ];
    expect(refusals.map(({ status, body }) => [status, body.error?.code])).toEqual([
      [404, -32602],
      [404, -32602],
      [400, -32600],
      [400, -32600],
    ]);
    const got = await fetch(all(), { headers: { accept: 'text/event-stream' } });
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    const plainText = await fetch(all(), { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' });
    expect(plainText.status).toBe(415);
    const broken = await fetch(all(), { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' });
    expect(broken.status).toBe(400);
  });

  it('with a number that is none, or nested deeper than anything is kept, is refused, and nothing is begun', async () => {
    const runs = await runsOf(plain);
    const refusals = ['1e999', `${'['.repeat(101)}${']'.repeat(101)}`].map(async (text) => {
      const params = `{"name":"${plain}","arguments":{"text":${text}}}`;
      const response = await fetch(all(), {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
      });
      return [response.status, await response.json()];
    });
    const error = (message: string) => ({
      jsonrpc: '2.0',
      id: 1,
      error: expect.objectContaining({ code: -32600, message }),
    });
    expect(await Promise.all(refusals)).toEqual([
      [400, error('params.arguments.text: must be a finite number')],
      [400, error('the body is nested deeper than 100 levels')],
    ]);
    expect(await runsOf(plain)).toBe(runs);
  });

  it('by a page of another origin is refused', async () => {
    for (const url of [all(), only(greeting)]) {
      const { status, text } = await mcp(url, 'tools/list', {}, { headers: { origin: 'https://evil.example' } });
      expect([status, text]).toEqual([403, expect.stringContaining('FOREIGN_ORIGIN')]);
    }
  });
});

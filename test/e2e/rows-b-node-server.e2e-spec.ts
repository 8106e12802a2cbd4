import type { Task } from '#libs/protocol';
import { detail, firstText, getTask, rpc, sendParams, sendTask } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { rewriteStored } from '../support/stored-definition.js';
import { echo, external, linear, script, says, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage();
const dead = 'http://127.0.0.1:1';

/** A workflow of one node, whose id is unique so that the seed's alias serves it too. */
async function node(
  make: (id: string) => ReturnType<typeof echo>,
): Promise<{ id: string; workflow: string; base: string; alias: string }> {
  const id = unique('n');
  const workflow = unique('b');
  await stage.api.save(linear(workflow, make(id)));
  return { id, workflow, base: stage.api.base(workflow, id), alias: `${stage.parley.url}/a2a/nodes/${id}` };
}

describe('rows B: the server of every node', () => {
  it('B1 a text result is a text Part of media type text/plain', async () => {
    const { base } = await node((id) => echo(id));
    const task = await sendTask(base, 'hello');
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: 'hello', mediaType: 'text/plain' }]);
  });

  it('B4 a node has a valid 1.0 card that says what it is and where', async () => {
    const { id, base } = await node((name) => echo(name));
    const card = (await (await fetch(`${base}/.well-known/agent-card.json`)).json()) as Record<string, unknown>;
    expect(card).toMatchObject({
      name: expect.stringContaining(id),
      description: expect.any(String),
      version: expect.any(String),
      capabilities: { streaming: true },
      defaultInputModes: expect.arrayContaining(['text/plain']),
      defaultOutputModes: expect.arrayContaining(['text/plain', 'application/json']),
      supportedInterfaces: expect.arrayContaining([
        expect.objectContaining({ url: base, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }),
        expect.objectContaining({ url: base, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }),
      ]),
    });
    expect(card.skills).toEqual([
      expect.objectContaining({
        id,
        name: expect.any(String),
        description: expect.any(String),
        tags: expect.any(Array),
      }),
    ]);
  });

  it('B9 a body that is not JSON is -32700 Parse error', async () => {
    const { base } = await node((id) => echo(id));
    const { body } = await rpc(base, '', undefined, { body: '{"jsonrpc":' });
    expect(body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } });
  });

  it('B9 an unknown method is -32601 Method not found', async () => {
    const { base } = await node((id) => echo(id));
    const { body } = await rpc(base, 'MakeCoffee', {}, { id: 'abc' });
    expect(body).toMatchObject({ jsonrpc: '2.0', id: 'abc', error: { code: -32601, message: 'Method not found' } });
  });

  it.each([
    ['text', '"words"'],
    ['a list', '[1]'],
    ['missing', undefined],
    ['an empty object', '{}'],
  ])('B9 params that are %s are -32602', async (_what, params) => {
    const { base } = await node((id) => echo(id));
    const { body } = await rpc(base, 'SendMessage', params === undefined ? undefined : JSON.parse(params), { id: 7 });
    expect(body).toMatchObject({ jsonrpc: '2.0', id: 7, error: { code: -32602 } });
  });

  it('B10 the first text Part of the Message is what the executor works on', async () => {
    const { base } = await node((id) => echo(id));
    const task = await sendTask(base, [{ data: { k: 1 } }, { text: 'first' }, { text: 'second' }]);
    expect(firstText(task)).toBe('first');
  });

  it('B11 an executor that fails gives a FAILED Task that says "Error: …", not a JSON-RPC error', async () => {
    const { base } = await node((id) => external(id, dead, { timeout: 1 }));
    const { body } = await rpc<{ task: Task }>(base, 'SendMessage', sendParams('hello'));
    expect(body.error).toBeUndefined();
    const task = body.result?.task as Task;
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(task.status.message).toMatchObject({ role: 'ROLE_AGENT' });
    expect(task.status.message?.parts[0]?.text).toMatch(/^Error: external agent call to http:\/\/127\.0\.0\.1:1: ./);
  });

  it('B13 success is COMPLETED with one Artifact, and a history of the user Message and the agent Message with its Parts', async () => {
    const { base } = await node((id) => echo(id));
    const sent = await sendTask(base, 'hello', { fields: { messageId: 'm-1' } });
    const task = await getTask(base, sent.id);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts).toHaveLength(1);
    expect(task.history?.map(({ role }) => role)).toEqual(['ROLE_USER', 'ROLE_AGENT']);
    expect(task.history?.[0]).toMatchObject({ messageId: 'm-1', parts: [{ text: 'hello' }] });
    expect(task.history?.[1]?.parts).toEqual(task.artifacts?.[0]?.parts);
  });

  it('B14 K4 a node that does not exist is a JSON-RPC error -32001 over HTTP 200', async () => {
    const reply = await rpc(`${stage.parley.url}/a2a/nodes/nope`, 'SendMessage', sendParams('hello'), { id: 3 });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
    expect(reply.body).toMatchObject({
      jsonrpc: '2.0',
      id: 3,
      error: { code: -32001, message: 'node "nope" not registered' },
    });
    expect(detail(reply.body.error?.data, 'ErrorInfo')).toMatchObject({ reason: 'NODE_NOT_FOUND' });
  });

  it('B14 the same on the canonical base', async () => {
    const workflow = unique('b');
    await stage.api.save(linear(workflow, echo('only')));
    const reply = await rpc(stage.api.base(workflow, 'nope'), 'SendMessage', sendParams('hello'));
    expect(reply.body.error).toMatchObject({ code: -32001 });
    expect(reply.status).toBeLessThan(500);
  });

  it('B15 a stored node of a type that nobody registered is -32001 `no executor for node type "t"`', async () => {
    const { id, workflow, alias } = await node((name) => echo(name));
    await rewriteStored(stage.database, workflow, (definition) => {
      for (const it of definition.nodes) it.type = 'teleport';
    });
    const { body } = await rpc(alias, 'SendMessage', sendParams('hello'));
    expect(body.error).toMatchObject({ code: -32001, message: 'no executor for node type "teleport"' });
    expect(id).toBeDefined();
  });

  it('B16 a node is reachable the moment its workflow is saved, and gone the moment it is deleted', async () => {
    const { workflow, base, alias } = await node((id) => script(id, ...says('here')));
    expect(firstText(await sendTask(base, 'x'))).toBe('here');
    expect(firstText(await sendTask(alias, 'x'))).toBe('here');
    await stage.api.call('DELETE', `/workflows/${workflow}`);
    expect((await rpc(alias, 'SendMessage', sendParams('x'))).body.error).toMatchObject({ code: -32001 });
  });

  it('B16 a saved change of a node is what the next Message meets', async () => {
    const { id, workflow, base } = await node((name) => script(name, ...says('old')));
    expect(firstText(await sendTask(base, 'x'))).toBe('old');
    await stage.api.call('PUT', `/workflows/${workflow}`, linear(workflow, script(id, ...says('new'))));
    expect(firstText(await sendTask(base, 'x'))).toBe('new');
  });
});

describe('rows B and K3: the seed dialect on the node alias', () => {
  const legacy = (text: string): object => ({
    message: { role: 'user', parts: [{ type: 'text', text, mimeType: 'text/plain' }] },
    configuration: { acceptedOutputModes: ['text/plain', 'application/json'], blocking: true },
  });

  it('B1 B3 B13 a2a.sendMessage answers with a Task of the seed shape', async () => {
    const { alias } = await node((id) => echo(id));
    const { body } = await rpc<Record<string, unknown>>(alias, 'a2a.sendMessage', legacy('hello'), {
      headers: { 'a2a-version': '' },
    });
    expect(body.result).toMatchObject({
      id: expect.stringMatching(/^task-[0-9a-f]{16}$/),
      status: 'completed',
      artifacts: [{ index: 0, parts: [{ type: 'text', text: 'hello', mimeType: 'text/plain' }] }],
      messages: [
        { role: 'user', parts: [{ type: 'text', text: 'hello' }] },
        { role: 'agent', parts: [{ type: 'text', text: 'hello' }] },
      ],
    });
  });

  it('B11 an executor that fails is a result with status failed', async () => {
    const { alias } = await node((id) => external(id, dead, { timeout: 1 }));
    const { body } = await rpc<{ status: string; messages: { parts: { text: string }[] }[] }>(
      alias,
      'a2a.sendMessage',
      legacy('x'),
    );
    expect(body.error).toBeUndefined();
    expect(body.result?.status).toBe('failed');
    expect(body.result?.messages.at(-1)?.parts[0]?.text).toMatch(/^Error: /);
  });

  it('K3 the canonical base knows the method of the seed dialect, and answers with an id of its own', async () => {
    const { base } = await node((id) => echo(id));
    const { body } = await rpc<{ id: string; status: string }>(base, 'a2a.sendMessage', legacy('x'));
    expect(body.result?.status).toBe('completed');
    expect(body.result?.id).not.toMatch(/^task-/);
  });

  it('K3 the alias speaks 1.0 too', async () => {
    const { alias } = await node((id) => echo(id));
    expect(await sendTask(alias, 'hello')).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  });
});

describe('row B12: what an executor gives', () => {
  it('B12 a string is a text Part, an object a data Part, anything else its string form as text', async () => {
    const fake = await stage.fake({ name: 'described' });
    const tool = (id: string, name: string, args: object): Workflow['nodes'][number] => ({
      id,
      type: 'tool',
      config: { tool: name, args: { ...args } },
    });
    const run = await stage.api.finish({
      name: unique('b12'),
      nodes: [
        tool('words', 'current_time', {}),
        tool('thing', 'http_get', { url: `${fake.url}/card` }),
        tool('number', 'calculator', { expression: '6 * 7' }),
      ],
      edges: [],
    });
    const parts = (id: string): unknown => run.nodes[id]?.artifacts[0]?.parts;
    expect(run.status).toBe('completed');
    expect(parts('words')).toEqual([{ text: expect.stringMatching(/^\d{4}-/), mediaType: 'text/plain' }]);
    expect(parts('thing')).toEqual([
      { data: expect.objectContaining({ name: 'described' }), mediaType: 'application/json' },
    ]);
    expect(parts('number')).toEqual([{ text: '42', mediaType: 'text/plain' }]);
  });
});

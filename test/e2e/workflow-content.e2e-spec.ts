import type { JsonObject, JsonValue, Part } from '#libs/protocol';
import { rpc, sendParams, sendTask } from '../support/a2a.js';
import { answers, ends } from '../support/fake-behaviour.js';
import { mcp } from '../support/mcp.js';
import { startSdkServer } from '../support/sdk-server.js';
import { useSharedStage } from '../support/shared-stage.js';
import {
  declaring,
  echo,
  external,
  input,
  linear,
  output,
  textOf,
  unique,
  type WorkflowNode,
} from '../support/workflow.js';

const stage = useSharedStage({ env: { BODY_LIMIT: '16mb', ARTIFACT_LIMIT: '32mb', TASK_LIMIT: '128mb' } });

const PNG: Part = { raw: Buffer.alloc(3_000, 7).toString('base64'), mediaType: 'image/png', filename: 'chart.png' };
const LINK: Part = { url: 'https://files.example/a.pdf', mediaType: 'application/pdf', filename: 'a.pdf' };
/** A data Part as AG2 adds it to the text of a second turn. */
const TURN: Part = { data: { type: 'ag2_event', content: [null, { deep: [[], {}] }], big: 9_007_199_254_740_991 } };
const EVERYTHING = ['text/plain', 'application/json', '*/*'];

const calling = (id: string, workflow: string): WorkflowNode => ({ id, type: 'workflow', config: { workflow } });

describe('the content of a Message to a workflow', () => {
  it.each([
    ['JSONRPC', 5 * 1024 ** 2],
    ['HTTP+JSON', 512 * 1024],
  ] as const)(
    'goes to an agent elsewhere and back as it was sent, over %s with a file of %i bytes',
    async (it, bytes) => {
      const agent = await startSdkServer(it, true, EVERYTHING);
      stage.defer(() => agent.stop());
      const { name } = await stage.api.save(linear(unique('front'), external('ext', agent.url)));
      const large = {
        raw: Buffer.alloc(bytes, 1).toString('base64'),
        mediaType: 'audio/wav',
        filename: 'a.wav',
      };
      const sent: Part[] = [
        { text: 'hello', metadata: { tone: 'kind' } },
        { ...TURN, metadata: { of: ['x', null] } },
        { data: [null, [1, 'two'], { three: null }] },
        { ...PNG, metadata: { page: 3 } },
        LINK,
        large,
      ];
      const task = await sendTask(stage.api.base(name), sent);
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      const [answer] = task.artifacts ?? [];
      expect(answer?.parts.slice(0, sent.length)).toEqual(sent.map((part) => expect.objectContaining(part)));
    },
  );

  it.each<[string, JsonValue]>([
    ['an object whose members name no node', TURN.data as JsonObject],
    ['a list', [1, null]],
    ['null', null],
  ])('is passed on by a workflow without inputs where it is %s', async (_what, data) => {
    const agent = await stage.fake({ card: { defaultInputModes: EVERYTHING } });
    const { name } = await stage.api.save(linear(unique('second'), external('ext', agent.url)));
    await sendTask(stage.api.base(name), [{ text: 'go on' }, { data }]);
    expect(agent.sends[0]?.message?.parts).toEqual([expect.objectContaining({ text: 'go on' }), { data }]);
  });

  it('is refused where it names inputs that a workflow does not have: at the API, and at MCP', async () => {
    const { name } = await stage.api.save(linear(unique('closed'), echo('says')));
    const started = await stage.api.call('POST', `/workflows/${name}/runs`, { inputs: { typo: 'x' } });
    expect([started.status, started.body.reason]).toEqual([422, 'UNKNOWN_INPUT']);
    const called = await mcp(`${stage.parley.url}/mcp`, 'tools/call', { name, arguments: { typo: 'x' } });
    expect(JSON.stringify(called)).toContain('inputs.typo: is not an input of this workflow');
  });

  it('may be a file alone, also where an input is required', async () => {
    const { name } = await stage.api.save(linear(unique('alone'), input('in'), output('out')));
    const task = await sendTask(stage.api.base(name), [PNG]);
    expect([task.status.state, task.artifacts?.[0]?.parts]).toEqual([
      'TASK_STATE_COMPLETED',
      [expect.objectContaining(PNG)],
    ]);
    const { body } = await rpc(stage.api.base(name), 'SendMessage', sendParams([{ data: {} }]));
    expect(body.error?.message).toContain('inputs.in: is required');
  });

  it('reaches first nodes that have a prompt', async () => {
    const agent = await stage.fake({ card: { defaultInputModes: EVERYTHING } });
    const { name } = await stage.api.save(linear(unique('asked'), external('ext', agent.url, { prompt: 'describe' })));
    await sendTask(stage.api.base(name), [{ text: 'look' }, PNG]);
    expect(agent.sends[0]?.message?.parts).toEqual([expect.objectContaining({ text: 'describe' }), PNG]);
  });

  it('goes through workflows in workflows: files as they are, data as text', async () => {
    const agent = await stage.fake({ card: { defaultInputModes: EVERYTHING } });
    const inner = await stage.api.save(linear(unique('inner'), external('ext', agent.url)));
    const body = { name: 'between', nodes: [calling('deeper', inner.name)], edges: [] };
    const between = { id: 'between', type: 'workflow', config: { body: body as unknown as JsonObject } };
    const { name } = await stage.api.save(linear(unique('outer'), between));
    await sendTask(stage.api.base(name), [{ text: 'look' }, PNG, LINK, { data: [1] }]);
    const parts = agent.sends[0]?.message?.parts ?? [];
    expect(parts.filter(({ text }) => text === undefined)).toEqual([PNG, LINK]);
    expect(parts[0]?.text).toBe('look\n[1]');
  });

  it('is described where its first node does not read it', async () => {
    const inner = await stage.api.save(linear(unique('inner'), input('in'), echo('says')));
    const { name } = await stage.api.save(linear(unique('outer'), input('in'), calling('run', inner.name)));
    const task = await sendTask(stage.api.base(name), [{ text: 'look' }, PNG]);
    expect(textOf(task.artifacts)).toContain('look');
    expect(JSON.stringify(task.artifacts)).toContain('[file chart.png, image/png, 3000 bytes]');
  });

  it('goes to the first agents with the members that the caller wrote', async () => {
    const [first, later] = await Promise.all([stage.fake(), stage.fake()]);
    const { name } = await stage.api.save(
      linear(unique('members'), input('in'), external('a', first.url), external('b', later.url)),
    );
    const feature = 'https://agents.example/ext/priority/v1';
    const members = { metadata: { tone: 'kind' }, extensions: [feature], referenceTaskIds: ['theirs'] };
    const sent = sendParams('hello', { fields: members, metadata: { budget: 3 } });
    const { body } = await rpc<{ task: { status: { state: string } } }>(stage.api.base(name), 'SendMessage', sent);
    expect(body.result?.task.status.state).toBe('TASK_STATE_COMPLETED');
    const message = { metadata: { tone: 'kind' }, referenceTaskIds: ['theirs'] };
    expect(first.sends[0]?.body?.params).toMatchObject({ message, metadata: { budget: 3 } });
    expect(first.sends[0]?.message?.extensions).toContain(feature);
    expect(later.sends[0]?.message?.metadata).not.toHaveProperty('tone');
    expect(later.sends[0]?.body?.params).not.toHaveProperty('metadata');
  });

  it('goes as an answer to the agent that asked, with the members of the answer', async () => {
    const agent = await stage.fake();
    agent.next(ends('TASK_STATE_INPUT_REQUIRED', 'which?'), answers('thanks'));
    const { name } = await stage.api.save(linear(unique('asking'), external('ext', agent.url)));
    const task = await sendTask(stage.api.base(name), 'hello');
    const fields = { taskId: task.id, contextId: task.contextId, metadata: { tone: 'firm', node: 'ext' } };
    await rpc(stage.api.base(name), 'SendMessage', sendParams([{ text: 'this' }, PNG], { fields }));
    const message = agent.sends[1]?.message;
    expect(message?.metadata).toMatchObject({ tone: 'firm' });
    expect(message?.metadata).not.toHaveProperty('node');
    expect(message?.parts).toEqual(expect.arrayContaining([expect.objectContaining({ text: 'this' }), PNG]));
  });
});

describe('the media types of a workflow', () => {
  const cardOf = async (name: string) => {
    const response = await fetch(`${stage.api.base(name)}/.well-known/agent-card.json`);
    return (await response.json()) as { defaultInputModes: string[]; skills: { inputModes: string[] }[] };
  };
  const send = async (name: string, ...parts: Part[]) => {
    const { body } = await rpc<{ task: object }>(stage.api.base(name), 'SendMessage', sendParams(parts));
    return body.error?.code ?? 'accepted';
  };
  const seeing = declaring('look', { inputModes: ['image/*'] }, { echo: true }, { complete: 'seen' });

  it('are those of its first nodes: another file is refused, and nothing is begun', async () => {
    const { name } = await stage.api.save(linear(unique('seeing'), seeing, output('out')));
    const modes = ['text/plain', 'application/json', 'image/*'];
    expect(await cardOf(name)).toMatchObject({ defaultInputModes: modes, skills: [{ inputModes: modes }] });
    expect(await send(name, PNG)).toBe('accepted');
    expect(await send(name, LINK)).toBe(-32005);
    expect(await send(name, { text: 'x' }, { data: [] })).toBe('accepted');
    const { body } = await stage.api.call('GET', `/runs?workflow=${name}`);
    expect(body.runs).toHaveLength(2);
  });

  it('are those of agents without files: a file is refused', async () => {
    const { name } = await stage.api.save(linear(unique('blind'), echo('says')));
    expect((await cardOf(name)).defaultInputModes).toEqual(['text/plain', 'application/json']);
    expect(await send(name, PNG)).toBe(-32005);
  });

  it('are those of the card of an agent elsewhere; what that does not read is described to it', async () => {
    const agent = await stage.fake({ card: { defaultInputModes: ['text/plain', 'image/png'] } });
    const { name } = await stage.api.save(linear(unique('front'), external('ext', agent.url)));
    expect(await send(name, LINK)).toBe('accepted');
    expect(agent.sends[0]?.message?.parts.map(({ text }) => text)).toContain(
      '[file a.pdf, application/pdf, https://files.example/a.pdf]',
    );
    expect((await cardOf(name)).defaultInputModes).toEqual(['text/plain', 'application/json', 'image/png']);
  });

  it('may be named by its definition, for Messages that begin a run', async () => {
    const definition = linear(unique('named'), input('in'), output('out'));
    const { name } = await stage.api.save({
      ...definition,
      inputModes: ['text/plain', 'image/*'],
    } as typeof definition);
    expect((await cardOf(name)).defaultInputModes).toEqual(['text/plain', 'image/*']);
    expect(await send(name, { text: 'look' }, PNG)).toBe('accepted');
    expect(await send(name, { data: { in: 'x' } })).toBe(-32005);
    expect((await stage.api.call('POST', `/workflows/${name}/runs`, { inputs: { in: 'x' } })).status).toBe(202);
    const wrong = await stage.api.call('PUT', `/workflows/${name}`, { ...definition, inputModes: ['image'] });
    expect([wrong.status, wrong.body.errors]).toMatchObject([422, [{ path: 'inputModes', code: 'INVALID_MODES' }]]);
  });
});

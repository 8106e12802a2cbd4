import type { JsonObject, SendMessageResponse, Task } from '#libs/protocol';
import { firstText, rest, rpc, sendParams } from '../../support/a2a.js';
import { bindingsOf } from '../../support/bindings.js';
import { useSharedStage } from '../../support/shared-stage.js';
import type { Endpoints } from '../../support/wire-binding.js';
import { input, linear, output, ruled, says, script, unique } from '../../support/workflow.js';

const stage = useSharedStage({ env: { GRPC_PORT: '0' } });
const endpoints: Endpoints = { url: '', grpc: '' };
const wires = bindingsOf(() => endpoints);

interface Card {
  version: string;
  supportedInterfaces: { url: string; protocolBinding: string }[];
}

beforeAll(async () => {
  const card = (await (await fetch(`${stage.parley.url}/.well-known/agent-card.json`)).json()) as Card;
  endpoints.url = stage.parley.url;
  endpoints.grpc = card.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')?.url ?? '';
});

/** A workflow that once said `withdrawn`, and the revision of that time. */
async function replaced(): Promise<{ name: string; wish: JsonObject }> {
  const name = unique('grants');
  const definition = (text: string) => linear(name, input('in'), script('s', ...says(text)), output('out'));
  await stage.api.save(definition('withdrawn'));
  const { body } = await stage.api.call<{ revision: string }>('GET', `/workflows/${name}`);
  const saved = await stage.api.call('PUT', `/workflows/${name}`, definition('current'));
  expect(saved.status).toBe(200);
  return { name, wish: { 'parley/revision': body.revision } };
}

/** What a Message says with the wish wherever a wish may stand. */
function wishing(wish: JsonObject): JsonObject {
  return sendParams('go', { fields: { metadata: wish }, metadata: wish });
}

const textOf = ({ result }: { result?: { task: Task } }): string => (result ? (firstText(result.task) ?? '') : 'none');

describe('a revision that was replaced', () => {
  it.each(wires.map((wire) => [wire.name, wire] as const))('is not run for a caller over %s', async (_name, wire) => {
    const { name, wish } = await replaced();
    for (const path of [`workflows/${name}`, `workflows/${name}/nodes/s`]) {
      const answer = await wire.call<{ task: Task }>(path, 'SendMessage', wishing(wish));
      expect(`${path}: ${textOf(answer)}`).toBe(`${path}: current`);
    }
  });

  it('is not run for a caller of 0.3, of the alias, or of the service', async () => {
    const { name, wish } = await replaced();
    const message = { ...(wishing(wish).message as JsonObject), kind: 'message', role: 'user' };
    const old = { message: { ...message, parts: [{ kind: 'text', text: 'go' }] }, metadata: wish };
    const base = `${stage.parley.url}/a2a/workflows/${name}/nodes/s`;
    const v03 = await rpc<Task>(base, 'message/send', old, { headers: { 'a2a-version': '0.3' } });
    expect(JSON.stringify(v03.body)).toContain('current');
    const v03Rest = await rest(base, 'POST', '/v1/message:send', {
      headers: { 'a2a-version': '0.3' },
      body: wishing(wish),
    });
    expect(JSON.stringify(v03Rest.body)).not.toContain('withdrawn');
    const service = await rpc<SendMessageResponse>(`${stage.parley.url}/a2a`, 'SendMessage', {
      ...wishing({ ...wish, skillId: name }),
    });
    expect(JSON.stringify(service.body)).toContain('current');
    await stage.api.call('DELETE', `/workflows/${name}`);
    const alias = linear(unique('alias'), script(unique('only'), ...says('current')));
    await stage.api.save(alias);
    const founding = `${stage.parley.url}/a2a/nodes/${alias.nodes[0]?.id}`;
    const seed = await rpc(founding, 'SendMessage', wishing(wish), { headers: { 'a2a-version': '' } });
    expect(JSON.stringify(seed.body)).toContain('current');
  });

  it('is not run for who writes the header that replicas write', async () => {
    const { name, wish } = await replaced();
    const forged = `${Buffer.from(JSON.stringify([wish['parley/revision'], 4e12])).toString('base64url')}.${'A'.repeat(43)}`;
    for (const claim of [String(wish['parley/revision']), forged, '', 'a.b.c']) {
      const { body } = await rpc(stage.api.base(name, 's'), 'SendMessage', sendParams('go'), {
        headers: { 'parley-revision': claim },
      });
      expect(body.result).toBeUndefined();
      expect(body.error?.code).toBe(-32600);
    }
  });

  it('still answers on a Task that it has accepted, whatever the Message wishes', async () => {
    const name = unique('grants');
    const definition = (text: string) =>
      linear(name, ruled('s', [{ when: { turn: 1 }, steps: [{ ask: 'more?' }] }], says(text)));
    await stage.api.save(definition('accepted'));
    const base = stage.api.base(name, 's');
    const first = await rpc<SendMessageResponse>(base, 'SendMessage', sendParams('go'));
    const asked = (first.body.result as { task: Task }).task;
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect((await stage.api.call('PUT', `/workflows/${name}`, definition('current'))).status).toBe(200);
    const { body } = await stage.api.call<{ revision: string }>('GET', `/workflows/${name}`);
    const follow = sendParams('yes', { fields: { taskId: asked.id }, metadata: { 'parley/revision': body.revision } });
    const answered = await rpc<SendMessageResponse>(base, 'SendMessage', follow);
    expect(textOf(answered.body as { result: { task: Task } })).toBe('accepted');
  });
});

describe('a workflow that was deleted', () => {
  it.each(wires.map((wire) => [wire.name, wire] as const))('is found by nobody over %s', async (_name, wire) => {
    const { name, wish } = await replaced();
    expect((await stage.api.call('DELETE', `/workflows/${name}`)).status).toBe(204);
    for (const path of [`workflows/${name}`, `workflows/${name}/nodes/s`]) {
      const { result, error } = await wire.call(path, 'SendMessage', wishing(wish));
      expect({ path, result, found: error?.message.includes('not') }).toEqual({ path, result: undefined, found: true });
    }
  });
});

describe('what the service writes into metadata', () => {
  it('is not taken from a Message', async () => {
    const { name } = await replaced();
    const stolen = {
      'parley/run': { workflow: 'other', revision: '1', inputs: { in: 'forged' } },
      'parley/conversation': { target: 'http://127.0.0.1:1', message: 'x' },
      'parley/brainstorm': { idea: 'x', agents: [] },
      'parley/event': { type: 'done', payload: {} },
      'parley/stream': { stream: 'a2a', data: {} },
      'parley/remote': { taskId: 'x', contextId: 'y' },
      'parley/step': { command: 9 },
    };
    const { result } = await wires[0]!.call<{ task: Task }>(`workflows/${name}`, 'SendMessage', {
      ...sendParams('go', { fields: { metadata: stolen }, metadata: stolen }),
    });
    expect(textOf({ result })).toBe('current');
    expect(result?.task.metadata).not.toHaveProperty('parley/conversation');
    expect(result?.task.metadata).not.toHaveProperty('parley/brainstorm');
    expect(result?.task.metadata?.['parley/run']).toMatchObject({ workflow: name, inputs: { in: 'go' } });
    expect((await stage.api.run(result?.task.id ?? '')).status).toBe('completed');
    for (const path of ['conversations', 'brainstorms']) {
      const { body } = await rpc(
        `${stage.parley.url}/a2a/${path}`,
        'SendMessage',
        sendParams('go', { metadata: stolen }),
      );
      expect(body.error ?? body).toHaveProperty('code');
    }
  });
});

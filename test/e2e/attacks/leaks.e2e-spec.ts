import type { JsonObject } from '#libs/protocol';
import { apiKeyEnv, testCaller } from '../../support/callers.js';
import { GrpcWire } from '../../support/grpc-wire.js';
import { useStage } from '../../support/stage.js';
import type { Endpoints } from '../../support/wire-binding.js';
import { Api, echo, linear, output, unique } from '../../support/workflow.js';

const ann = testCaller('ann');
const PROMPT = 'the-prompt-that-nobody-reads';

describe('cards', () => {
  const stage = useStage({ env: { ...apiKeyEnv(ann), GRPC_PORT: '0' } });
  const workflow = unique('cards');
  const at = `workflows/${workflow}/nodes`;

  beforeAll(async () => {
    const api = new Api(stage.parley.url, ann.headers);
    const told = echo('told', { description: 'Translates', system_prompt: PROMPT, prompt: PROMPT });
    await api.save(linear(workflow, echo('quiet', { system_prompt: PROMPT }), told, output('out', { prompt: PROMPT })));
  });

  const read = async (path: string, headers: Record<string, string> = {}): Promise<string> => {
    const response = await fetch(`${stage.parley.url}${path}`, { headers });
    expect(`${path}: ${response.status}`).toBe(`${path}: 200`);
    return response.text();
  };

  it.each([
    ['a node', `/a2a/${at}/quiet/.well-known/agent-card.json`],
    ['a node that is described', `/a2a/${at}/told/.well-known/agent-card.json`],
    ['a node for 0.3', `/a2a/${at}/quiet/.well-known/agent-card.json`, { 'a2a-version': '0.3' }],
    ['the alias of a node', `/a2a/nodes/told/agent-card`],
    ['a workflow', `/a2a/workflows/${workflow}/.well-known/agent-card.json`],
    ['the service', '/.well-known/agent-card.json'],
    ['the directory', '/a2a/agents?pageSize=100', ann.headers],
    ['a workflow, extended', `/a2a/workflows/${workflow}/extendedAgentCard`, { ...ann.headers, 'a2a-version': '1.0' }],
    ['a node, extended', `/a2a/${at}/quiet/extendedAgentCard`, { ...ann.headers, 'a2a-version': '1.0' }],
    ['the service, extended', '/a2a/extendedAgentCard', { ...ann.headers, 'a2a-version': '1.0' }],
  ])('of %s say no prompt', async (_what, path, headers = {}) => {
    const text = await read(path, headers);
    expect(text).not.toContain(PROMPT);
    expect(text).not.toContain('Upal');
  });

  it('over gRPC say no prompt', async () => {
    const card = JSON.parse(await read('/.well-known/agent-card.json')) as {
      supportedInterfaces: { url: string; protocolBinding: string }[];
    };
    const grpc = card.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')?.url ?? '';
    const endpoints: Endpoints = { url: stage.parley.url, grpc };
    const { result } = await new GrpcWire(() => endpoints).call(
      `workflows/${workflow}`,
      'GetExtendedAgentCard',
      {},
      ann.headers,
    );
    expect(JSON.stringify(result)).toContain('agent node quiet of workflow');
    expect(JSON.stringify(result)).not.toContain(PROMPT);
  });

  it('of nodes say what the author wrote for them, else what everybody knows', async () => {
    const card = async (id: string) =>
      JSON.parse(await read(`/a2a/${at}/${id}/.well-known/agent-card.json`)) as JsonObject;
    expect(await card('told')).toMatchObject({ description: 'Translates', skills: [{ description: 'Translates' }] });
    const neutral = `agent node quiet of workflow ${workflow}`;
    expect(await card('quiet')).toMatchObject({ description: neutral, skills: [{ description: neutral }] });
  });

  it('have no description that is no text', async () => {
    const api = new Api(stage.parley.url, ann.headers);
    const reply = await api.call(
      'POST',
      '/workflows',
      linear(unique('cards'), echo('a', { description: { en: 'x' } })),
    );
    expect(reply.status).toBe(422);
    expect(reply.text).toContain('description must be a string');
  });
});

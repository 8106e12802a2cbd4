import type { AgentCard, JsonObject } from '#libs/protocol';
import { message, rest, sendTask } from '../support/a2a.js';
import { keepCredential } from '../support/credentials.js';
import { DoorAgent } from '../support/door-agent.js';
import { openDoor, register } from '../support/doors.js';
import { GrpcWire } from '../support/grpc-wire.js';
import { ParleyCommand } from '../support/parley-command.js';
import { startParley } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { unique } from '../support/workflow.js';

const stage = useStage({ env: { GRPC_PORT: '0', CARD_MAX_AGE: '0', CARD_CHANGE_POLICY: 'allow' } });

async function startAgent(options: Parameters<typeof DoorAgent.start>[0] = {}): Promise<DoorAgent> {
  const agent = await DoorAgent.start(options);
  stage.defer(() => agent.end());
  return agent;
}

async function cardOf(base: string): Promise<{ card: AgentCard; etag: string }> {
  const reply = await fetch(`${base}/.well-known/agent-card.json?A2A-Version=1.0`);
  return { card: (await reply.json()) as AgentCard, etag: reply.headers.get('etag') ?? '' };
}

it('registers, shows, lists, replaces and deletes an agent', async () => {
  const agent = await startAgent();
  const name = unique('crud');
  const made = await register(stage.parley.url, { name, url: agent.url, policy: { wait: 5 } });
  expect([made.status, made.headers.get('location')]).toEqual([201, `/api/agents/${name}`]);
  expect(made.body).toMatchObject({ name, url: agent.url, policy: { wait: 5 }, path: `/a2a/agents/${name}` });
  expect((await register(stage.parley.url, { name, url: agent.url })).status).toBe(409);
  const shown = await stage.api.call<JsonObject>('GET', `/agents/${name}`);
  expect(shown.body).toMatchObject({ name, card: { name: 'Door agent', version: '7.1' } });
  const listed = await stage.api.call<{ agents: { name: string }[] }>('GET', '/agents');
  expect(listed.body.agents.map((it) => it.name)).toContain(name);
  const replaced = await stage.api.call<JsonObject>('PUT', `/agents/${name}`, { url: agent.url, policy: { limit: 9 } });
  expect([replaced.status, replaced.body]).toEqual([200, expect.objectContaining({ policy: { limit: 9 } })]);
  const base = `${stage.parley.url}/a2a/agents/${name}`;
  const task = await sendTask(base, 'hello');
  expect((await stage.api.call('DELETE', `/agents/${name}`)).status).toBe(204);
  expect((await stage.api.call('DELETE', `/agents/${name}`)).status).toBe(404);
  expect((await fetch(`${base}/.well-known/agent-card.json`)).status).toBe(404);
  expect((await rest(base, 'GET', `/tasks/${task.id}`)).status).toBe(200);
});

it('is replaced and deleted at once at a replica that has just used it', async () => {
  const other = await startParley({ databaseUrl: stage.database.url });
  stage.defer(() => other.stop());
  const [first, second] = [await startAgent(), await startAgent()];
  const { name, base } = await openDoor(stage.parley.url, first.url);
  const change = (method: string, body?: object) => rest(`${other.url}/api`, method, `/agents/${name}`, { body });
  const heard = (): number[] => [first.heard.length, second.heard.length];
  await sendTask(base, 'hello');
  await sendTask(base, 'hello');
  expect((await change('PUT', { url: second.url })).status).toBe(200);
  await sendTask(base, 'hello');
  expect(heard()).toEqual([2, 1]);
  await sendTask(base, 'hello');
  expect((await change('PUT', { url: second.url, policy: { maxBytes: 10 } })).status).toBe(200);
  expect((await rest(base, 'POST', '/message:send', { body: { message: message('hello') } })).status).toBe(413);
  expect((await change('PUT', { url: second.url })).status).toBe(200);
  await sendTask(base, 'hello');
  expect((await change('DELETE')).status).toBe(204);
  expect((await rest(base, 'POST', '/message:send', { body: { message: message('hello') } })).status).toBe(404);
  expect(heard()).toEqual([2, 3]);
});

it.each<[string, number, string, object]>([
  ['an unknown member', 400, 'extra', { extra: 1 }],
  ['an unknown member of the policy', 400, 'policy.retries', { policy: { retries: 1 } }],
  ['a wait that is no time', 400, 'policy.wait', { policy: { wait: -1 } }],
  ['a park that is no time', 400, 'policy.park', { policy: { park: 0.5 } }],
  ['an unknown reaction', 400, 'policy.forgotten', { policy: { forgotten: 'panic' } }],
  ['a policy that is no object', 400, 'policy', { policy: 1 }],
  ['a name with a slash', 400, 'name', { name: 'a/b' }],
  ['a URL with a password', 400, 'url', { url: 'http://a:b@127.0.0.1/' }],
  ['a URL that is none', 400, 'url', { url: 'agent' }],
  ['an agent that is away', 422, 'url', { url: 'http://127.0.0.1:9' }],
])('refuses %s, and stores nothing', async (_what, status, path, fields) => {
  const name = unique('bad');
  const reply = await register(stage.parley.url, { name, url: 'http://127.0.0.1:9', ...fields });
  expect([reply.status, reply.body]).toEqual([
    status,
    expect.objectContaining({ errors: expect.arrayContaining([expect.objectContaining({ path })]) as unknown }),
  ]);
  expect((await stage.api.call('GET', `/agents/${name}`)).status).toBe(404);
});

it('refuses an agent of this service', async () => {
  const reply = await register(stage.parley.url, { name: unique('self'), url: `${stage.parley.url}/a2a` });
  expect([reply.status, JSON.stringify(reply.body)]).toEqual([
    400,
    expect.stringContaining('must not be an agent of this service'),
  ]);
});

it('serves the card of the agent with the interfaces and the signature of this service', async () => {
  const extensions = [{ uri: 'urn:example:theirs', description: '', required: false, params: {} }];
  const capabilities = { streaming: false, pushNotifications: false, extensions, extendedAgentCard: false };
  const agent = await startAgent({ streaming: false, card: { capabilities } });
  const { base, name } = await openDoor(stage.parley.url, agent.url);
  const { card } = await cardOf(base);
  expect(card).toMatchObject({
    name: 'Door agent',
    description: 'Echoes each Message',
    version: '7.1',
    provider: { organization: 'Doors Ltd' },
    documentationUrl: 'https://doors.example.com/docs',
    iconUrl: 'https://doors.example.com/icon.png',
    defaultInputModes: ['text'],
    defaultOutputModes: ['text', 'image/png'],
    skills: [{ id: 'echo', name: 'Echo', examples: ['hello'] }],
    capabilities: { streaming: true },
  });
  expect(card.supportedInterfaces.slice(0, 3)).toMatchObject([
    { url: base, protocolBinding: 'JSONRPC' },
    { url: base, protocolBinding: 'HTTP+JSON' },
    { protocolBinding: 'GRPC', tenant: `agents/${name}` },
  ]);
  expect(card.capabilities.extensions?.map(({ uri }) => uri)).toContain('urn:example:theirs');
  // The second one is for verifiers that leave out the empty parameters of the extension.
  const headers = (card.signatures ?? []).map((it) => Buffer.from(it.protected, 'base64url').toString());
  expect(headers.map((it) => (JSON.parse(it) as { jku: string }).jku)).toEqual([
    expect.stringContaining(stage.parley.url),
    expect.stringContaining(stage.parley.url),
  ]);
  expect(JSON.stringify(card)).not.toContain(agent.url);
  const listed = await rest<{ agents: { path: string; name: string }[] }>(
    `${stage.parley.url}/a2a`,
    'GET',
    '/agents?pageSize=1000',
  );
  expect(listed.body.agents).toContainEqual(expect.objectContaining({ path: `agents/${name}`, name: 'Door agent' }));
});

it('changes the card when the agent has changed its own', async () => {
  const agent = await startAgent();
  const { base } = await openDoor(stage.parley.url, agent.url);
  const before = await cardOf(base);
  agent.options.card = { description: 'Echoes louder' };
  await agent.end();
  await agent.begin();
  await sendTask(base, 'hello');
  const after = await until(
    async () => {
      const read = await cardOf(base);
      return read.card.description === 'Echoes louder' ? read : undefined;
    },
    { what: 'the changed card to be served' },
  );
  expect(after.etag).not.toBe(before.etag);
});

it('is called over gRPC by its path', async () => {
  const agent = await startAgent();
  const { base } = await openDoor(stage.parley.url, agent.url);
  const { card } = await cardOf(base);
  const offered = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC');
  const grpc = new GrpcWire(() => ({ url: stage.parley.url, grpc: offered?.url ?? '' }));
  const { result } = await grpc.call<{ task: { status: object } }>('', 'SendMessage', {
    tenant: offered?.tenant ?? '',
    message: message('by gRPC') as unknown as JsonObject,
  });
  expect(result?.task.status).toMatchObject({ state: 'TASK_STATE_COMPLETED' });
  expect(agent.heard).toHaveLength(1);
});

it('keeps a credential that a registered agent names', async () => {
  const agent = await startAgent();
  const auth = await keepCredential(stage.api, { kind: 'api-key', value: 'secret' });
  const { name } = await openDoor(stage.parley.url, agent.url, { auth });
  const refused = await stage.api.call('DELETE', `/credentials/${auth}`);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(name)]);
});

it('is added, shown, listed and removed by command', async () => {
  const agent = await startAgent();
  const command = new ParleyCommand({ PARLEY_URL: stage.parley.url });
  stage.defer(() => command.end());
  const name = unique('cli');
  const policy = '{"forgotten":"resend"}';
  expect(await command.run('agents', 'add', name, agent.url, '--policy', policy)).toEqual({
    err: '',
    code: 0,
    out: `Registered ${name} at ${stage.parley.url}/a2a/agents/${name}\n`,
  });
  expect((await command.run('agents', 'show', name)).out).toContain(policy);
  expect((await command.run('agents')).out).toContain(`${name}  /a2a/agents/${name}  ${agent.url}`);
  expect(await command.run('agents', 'add', name, agent.url)).toMatchObject({ code: 1 });
  expect(await command.run('agents', 'add', name)).toMatchObject({ code: 2 });
  expect((await command.run('agents', 'remove', name)).code).toBe(0);
  expect((await command.run('agents', 'show', name)).code).toBe(1);
});

it('activates extensions at the agent as the caller does', async () => {
  const extensions = [{ uri: 'urn:example:must', description: '', required: true, params: {} }];
  const capabilities = { streaming: true, pushNotifications: false, extensions, extendedAgentCard: false };
  const agent = await startAgent({ card: { capabilities } });
  const { base } = await openDoor(stage.parley.url, agent.url);
  await expect(sendTask(base, 'hello')).rejects.toThrow('urn:example:must');
  expect(agent.heard).toEqual([]);
  const task = await sendTask(base, 'hello', { headers: { 'a2a-extensions': 'urn:example:must' } });
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  expect(agent.activated).toEqual(['urn:example:must']);
});

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DoorAgent } from '../support/door-agent.js';
import { ParleyCommand } from '../support/parley-command.js';
import { useStage } from '../support/stage.js';
import { unique } from '../support/workflow.js';

const SECRET = 'this-secret-is-in-no-output';

const stage = useStage({ env: {} });
let parley: ParleyCommand;

beforeEach(() => {
  parley = new ParleyCommand({ PARLEY_URL: stage.parley.url, AGENT_KEY: SECRET });
});

afterEach(() => parley.end());

function write(file: string, text: string): void {
  const path = join(parley.folder, 'workflows', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function startAgent(): Promise<DoorAgent> {
  const agent = await DoorAgent.start();
  stage.defer(() => agent.end());
  return agent;
}

interface Registered {
  name: string;
  url: string;
  auth?: string;
  policy: object;
}

async function registered(name: string): Promise<Registered | undefined> {
  const { status, body } = await stage.api.call<Registered>('GET', `/agents/${name}`);
  return status === 200 ? body : undefined;
}

describe('registered agents in files', () => {
  it('applies an agent before the workflow that calls it, once, and prunes only its own', async () => {
    const agent = await startAgent();
    const [name, flow, other] = [unique('agent'), unique('flow'), unique('other')];
    expect((await stage.api.call('POST', '/agents', { name: other, url: agent.url })).status).toBe(201);
    write('a-flow.yaml', flowCalling(flow, name));
    write(
      'z-agent.yaml',
      `kind: agent\nname: ${name}\nurl: ${agent.url}\npolicy: { wait: 7, methods: [SendMessage] }\n`,
    );
    expect(await parley.run('diff')).toMatchObject({
      code: 2,
      out: `agent ${name} is only in the files\n${flow} is only in the files\n`,
    });
    expect(await registered(name)).toBeUndefined();
    expect(await parley.run('apply')).toMatchObject({ code: 0, out: `agent ${name} created\n${flow} created\n` });
    expect(await registered(name)).toMatchObject({ url: agent.url, policy: { wait: 7, methods: ['SendMessage'] } });
    // The card of an unchanged agent is not read again: it may be away.
    await agent.end();
    expect(await parley.run('apply')).toMatchObject({ code: 0, out: `agent ${name} unchanged\n${flow} unchanged\n` });
    expect(JSON.parse((await parley.run('apply', '--json')).out)).toEqual({
      workflows: [{ name: flow, action: 'unchanged' }],
      objects: [{ kind: 'agent', name, action: 'unchanged' }],
    });
    rmSync(join(parley.folder, 'workflows/z-agent.yaml'));
    write('a-flow.yaml', `name: ${flow}\nnodes: [{ id: a, type: input }]\n`);
    expect(await parley.run('apply', '--prune')).toMatchObject({ out: `agent ${name} deleted\n${flow} updated\n` });
    expect([await registered(name), (await registered(other))?.name]).toEqual([undefined, other]);
  });

  it('reports drift with exit code 2, and replaces it only over the seen revision', async () => {
    const agent = await startAgent();
    const name = unique('drift');
    write('agent.yaml', `kind: agent\nname: ${name}\nurl: ${agent.url}\n`);
    await parley.run('apply');
    expect((await parley.run('diff')).code).toBe(0);
    await stage.api.call('PUT', `/agents/${name}`, { url: agent.url, policy: { wait: 3 } });
    expect(await parley.run('diff')).toMatchObject({ code: 2, out: expect.stringContaining('"wait":3') as string });
    expect(await parley.run('apply')).toMatchObject({
      code: 1,
      err: expect.stringContaining(`agent "${name}"`) as string,
    });
    expect((await registered(name))?.policy).toEqual({ wait: 3 });
    expect((await parley.run('apply', '--force')).out).toBe(`agent ${name} updated\n`);
    expect((await registered(name))?.policy).toEqual({});
  });

  it('does not replace an agent that was registered elsewhere without --adopt', async () => {
    const agent = await startAgent();
    const name = unique('foreign');
    await stage.api.call('POST', '/agents', { name, url: agent.url });
    write('agent.yaml', `kind: agent\nname: ${name}\nurl: ${agent.url}\npolicy: { wait: 1 }\n`);
    expect(await parley.run('apply')).toMatchObject({ code: 1, err: expect.stringContaining('--adopt') as string });
    expect((await registered(name))?.policy).toEqual({});
    expect((await parley.run('apply', '--adopt')).out).toBe(`agent ${name} updated\n`);
  });

  it('saves nothing if one object or workflow is wrong, and names file and line', async () => {
    const agent = await startAgent();
    const [good, bad, flow] = [unique('good'), unique('bad'), unique('flow')];
    write('good.yaml', `kind: agent\nname: ${good}\nurl: ${agent.url}\n`);
    write('bad.yaml', `kind: agent\nname: ${bad}\nurl: ${agent.url}\npolicy:\n  wait: -1\n`);
    write('flow.yaml', `name: ${flow}\nnodes: [{ id: a, type: input }]\n`);
    expect(await parley.run('check')).toMatchObject({
      code: 2,
      out: expect.stringContaining('workflows/bad.yaml:5 policy.wait: must be a number of seconds') as string,
    });
    expect(await parley.run('apply')).toMatchObject({
      code: 2,
      err: expect.stringContaining('workflows/bad.yaml:5 policy.wait') as string,
    });
    write('bad.yaml', `kind: agent\nname: ${bad}\nurl: http://127.0.0.1:9\n`);
    expect(await parley.run('apply')).toMatchObject({
      code: 2,
      err: expect.stringContaining('workflows/bad.yaml:3 url: the agent cannot be registered') as string,
    });
    rmSync(join(parley.folder, 'workflows/bad.yaml'));
    write('flow.yaml', `name: ${flow}\nnodes: [{ id: a, type: nonsense }]\n`);
    expect((await parley.run('apply')).code).toBe(2);
    expect(await registered(good)).toBeUndefined();
    expect((await stage.api.call('GET', `/workflows/${flow}`)).status).toBe(404);
  });

  it('exports agents without secrets, and applies them to equal lists', async () => {
    const agent = await startAgent();
    const [name, credential] = [unique('exported'), unique('cred')];
    await stage.api.call('POST', '/credentials', { name: credential, kind: 'bearer', token: SECRET });
    await stage.api.call('POST', '/agents', { name, url: agent.url, auth: credential, policy: { perMinute: 9 } });
    const before = await registered(name);
    const exported = await parley.run('export', `agent/${name}`);
    expect(exported).toMatchObject({ code: 0, out: `agent ${name} → workflows/agents/${name}.yaml\n` });
    const file = readFileSync(join(parley.folder, `workflows/agents/${name}.yaml`), 'utf8');
    expect(file).toBe(`kind: agent\nname: ${name}\nurl: ${agent.url}\nauth: ${credential}\npolicy:\n  perMinute: 9\n`);
    expect((await parley.run('apply')).out).toBe(`agent ${name} unchanged\n`);
    await stage.api.call('DELETE', `/agents/${name}`);
    const applied = await parley.run('apply', '--force');
    expect(applied.out).toBe(`agent ${name} created\n`);
    const { createdAt: _made, updatedAt: _changed, ...shown } = (await registered(name)) as Registered & Times;
    expect(before).toMatchObject(shown);
    expect([file, exported, applied].some((it) => JSON.stringify(it).includes(SECRET))).toBe(false);
  });

  it('leaves files of other tools alone', async () => {
    write('deployment.yaml', 'kind: Deployment\nmetadata: { name: web }\n');
    expect(await parley.run('check')).toMatchObject({ code: 0, out: 'There are no workflows in workflows.\n' });
    write('agent.yaml', 'kind: agent\nurl: http://127.0.0.1:9\n');
    expect(await parley.run('check')).toMatchObject({
      code: 2,
      out: expect.stringContaining('workflows/agent.yaml:1: a file of the kind agent needs a name') as string,
    });
  });
});

describe('objects of all kinds in files', () => {
  const lists = ['credentials', 'models', 'mcp-servers', 'agents', 'workflows'];

  /** Returns the lists of a service without times and revisions. */
  async function listed(): Promise<string> {
    const answers = await Promise.all(lists.map(async (list) => (await stage.api.call('GET', `/${list}`)).body));
    const varies = new Set(['createdAt', 'updatedAt', 'revision', 'lastUsedAt', 'card']);
    return JSON.stringify(answers, (name, value: unknown) => (varies.has(name) ? undefined : value), 1);
  }

  it('applies them in order and atomically, exports them, and applies the export to an empty service', async () => {
    const agent = await startAgent();
    for (const list of lists.toReversed()) await deleteAll(list);
    writeAllKinds(agent.url);
    expect((await parley.run('check', '--env', 'staging')).out).toContain(
      '1 workflow and 4 objects checked, no problems',
    );
    expect((await parley.run('check')).out).toContain('the environment variable MODEL_URL is not set');
    const applied = await parley.run('apply', '--env', 'staging');
    expect(applied).toMatchObject({
      code: 0,
      out: [
        ...['agent desk', 'credential partner', 'mcp-server docs', 'model large', 'flow'].map((it) => `${it} created`),
        '',
      ].join('\n'),
    });
    expect((await parley.run('apply', '--env', 'staging')).out.match(/ unchanged$/gm)).toHaveLength(5);
    expect(await parley.run('diff', '--env', 'staging')).toMatchObject({ code: 0 });
    const before = await listed();
    expect(before).toContain('"baseUrl": "https://models.example.com/staging"');

    const exported = new ParleyCommand({ PARLEY_URL: stage.parley.url, PARTNER_TOKEN: SECRET });
    stage.defer(async () => exported.end());
    const written = await exported.run('export');
    expect(readFileSync(join(exported.folder, 'workflows/credentials/partner.yaml'), 'utf8')).toBe(
      'kind: credential\nname: partner\ntype: bearer\nhosts:\n  - https://api.example.com\ntoken: ${env:PARTNER_TOKEN}\n',
    );
    for (const list of lists.toReversed()) await deleteAll(list);
    const again = await exported.run('apply', '--force');
    expect([again.code, again.out.match(/ created$/gm)?.length]).toEqual([0, 5]);
    expect(await listed()).toBe(before);
    expect([applied, written, again, before].some((it) => JSON.stringify(it).includes(SECRET))).toBe(false);
  });

  it('updates a secret that has changed, and shows it nowhere', async () => {
    const name = unique('secret');
    write(
      'secret.yaml',
      `kind: credential\nname: ${name}\ntype: basic\nusername: ann\npassword: "\${env:AGENT_KEY}"\n`,
    );
    await parley.run('apply');
    const other = `another-${SECRET}`;
    const later = new ParleyCommand({ PARLEY_URL: stage.parley.url, AGENT_KEY: other }, undefined);
    stage.defer(async () => later.end());
    const folder = join(parley.folder, 'workflows');
    const [differs, applied] = [await later.run('diff', '-f', folder), await later.run('apply', '-f', folder)];
    expect(differs).toMatchObject({ code: 2, out: `credential ${name} differs\n  password\n` });
    expect(applied.out).toBe(`credential ${name} updated\n`);
    expect(JSON.stringify([differs, applied])).not.toContain(SECRET);
    write('secret.yaml', `kind: credential\nname: ${name}\ntype: nonsense\n`);
    expect((await parley.run('check')).out).toContain('workflows/secret.yaml:3 type: must be one of api-key');
    expect((await parley.run('apply')).err).toContain('workflows/secret.yaml:3 type: must be one of api-key');
  });

  it('prunes nothing that is still named, and warns of a missing credential', async () => {
    const [credential, model] = [unique('cred'), unique('model')];
    write('credential.yaml', `kind: credential\nname: ${credential}\ntype: bearer\ntoken: x-y-z\n`);
    await parley.run('apply');
    const fields = { name: model, provider: 'openai', model: 'gpt', auth: credential };
    expect((await stage.api.call('POST', '/models', fields)).status).toBe(201);
    rmSync(join(parley.folder, 'workflows/credential.yaml'));
    expect(await parley.run('apply', '--prune')).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        `the credential "${credential}" cannot be deleted: it is named by model "${model}"`,
      ) as string,
    });
    await stage.api.call('DELETE', `/models/${model}`);
    expect((await parley.run('apply', '--prune')).out).toBe(`credential ${credential} deleted\n`);
    write('model.yaml', `kind: model\nname: ${model}\nprovider: openai\nmodel: gpt\nauth: ${credential}\n`);
    expect((await parley.run('apply')).out).toBe(
      `model ${model} created\n  auth: the credential "${credential}" does not exist\n`,
    );
  });

  it('prunes no MCP server and no agent that a workflow names, and warns of unknown models and servers', async () => {
    const agent = await startAgent();
    const [server, door, flow, model] = ['server', 'door', 'flow', 'model'].map(unique) as [
      string,
      string,
      string,
      string,
    ];
    write('door.yaml', `kind: agent\nname: ${door}\nurl: ${agent.url}\n`);
    write('server.yaml', `kind: mcp-server\nname: ${server}\nurl: https://mcp.example.com/v1\n`);
    write('model.yaml', `kind: model\nname: ${model}\nprovider: openai\nmodel: gpt\n`);
    const flowWith = (...nodes: string[]): void =>
      write(
        'flow.yaml',
        `name: ${flow}\nnodes:\n  - { id: in, type: input }\n${nodes.map((it) => `  - ${it}\n`).join('')}`,
      );
    flowWith(
      `{ id: a, type: agent, config: { model: ${model}, tools: [${server}/search] } }`,
      `{ id: b, type: external, config: { agent: ${door} } }`,
    );
    expect((await parley.run('check')).out).not.toMatch(/only the service knows/);
    expect((await parley.run('apply')).out).not.toMatch(/there is no/);
    for (const [file, what] of [
      ['server', `the mcp-server "${server}"`],
      ['door', `the agent "${door}"`],
    ] as const) {
      const path = join(parley.folder, `workflows/${file}.yaml`);
      const text = readFileSync(path, 'utf8');
      rmSync(path);
      const refused = await parley.run('apply', '--prune');
      const detail = `${what} cannot be deleted: it is named by workflow "${flow}"`;
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(detail)]);
      writeFileSync(path, text);
    }
    flowWith(`{ id: a, type: agent, config: { model: tpyo, tools: [nowhere/search], fallbacks: [${model}] } }`);
    const checked = (await parley.run('check')).out;
    expect(checked).toContain(
      'config.model: warning: agent node "a": no file describes the model "tpyo"; only the service knows',
    );
    expect(checked).toContain('no file describes the MCP server "nowhere"; only the service knows');
    const applied = (await parley.run('apply')).out;
    expect(applied).toContain('nodes[1].config.model: agent node "a": there is no model "tpyo"');
    expect(applied).toContain('nodes[1].config.tools[0]: agent node "a": there is no MCP server "nowhere"');
    for (const file of ['server', 'door', 'model', 'flow']) rmSync(join(parley.folder, `workflows/${file}.yaml`));
    expect((await parley.run('apply', '--prune')).out.match(/ deleted$/gm)).toHaveLength(4);
  });
});

async function deleteAll(list: string): Promise<void> {
  const { body } = await stage.api.call<Record<string, { name: string }[]> | { name: string }[]>('GET', `/${list}`);
  const rows = Array.isArray(body) ? body : (Object.values(body).find((it) => Array.isArray(it)) ?? []);
  for (const { name } of rows) await stage.api.call('DELETE', `/${list}/${name}`);
}

/** Writes a folder with an object of each kind, in an order that is not that in which they are saved. */
function writeAllKinds(agentUrl: string): void {
  write('a.yaml', 'name: flow\nnodes: [{ id: a, type: agent, config: { model: large, tools: [docs/search] } }]\n');
  write('b.yaml', `kind: agent\nname: desk\nurl: ${agentUrl}\nauth: partner\npolicy: { wait: 5 }\n`);
  write('c.yaml', 'kind: mcp-server\nname: docs\nurl: https://mcp.example.com/v1\nauth: partner\nallow: [search*]\n');
  write(
    'd.yaml',
    'kind: model\nname: large\nprovider: openai-compatible\nmodel: gpt\nbaseUrl: "${env:MODEL_URL}"\nauth: partner\n',
  );
  write(
    'e.yaml',
    'kind: credential\nname: partner\ntype: bearer\ntoken: "${env:AGENT_KEY}"\nhosts: [api.example.com]\n',
  );
  write('environments/staging.json', '{ "MODEL_URL": "https://models.example.com/staging" }');
}

interface Times {
  createdAt: string;
  updatedAt: string;
}

/** Returns a workflow that calls a registered agent: as a tool, and as a node. */
function flowCalling(name: string, agent: string): string {
  return `name: ${name}
nodes:
  - { id: topic, type: input }
  - { id: writer, type: agent, config: { prompt: '{{topic}}', tools: [{ agent: agents/${agent} }] } }
  - { id: other, type: external, config: { agent: ${agent} } }
edges: [{ from: topic, to: writer }, { from: topic, to: other }]
`;
}

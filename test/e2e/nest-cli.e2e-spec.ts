import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { sendTask } from '../support/a2a.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { Api, echo, linear, unique } from '../support/workflow.js';

const ROOT = resolve(import.meta.dirname, '../..');
/** Without what npm has built. */
const SOURCES = [
  'src',
  'libs',
  'apps',
  'scripts',
  'nest-cli.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  '.swcrc',
];
const NEST = join(ROOT, 'node_modules/.bin/nest');
const MAIN = 'dist/src/main.js';
/** Written by npm's build alone. */
const STAMP = 'dist/.stamp';
/** The rules of an agent that echoes. */
const SCRIPT = 'echo.json';
/** Four builds by Nest's command and one by npm, on a busy machine. */
const TIME_LIMIT_MS = 900_000;
/** The service is built first. */
const START_WITHIN_MS = 400_000;

let folder: string;
let databases: TestDatabase[];
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  databases = [await freshDatabase(), await freshDatabase()];
  folder = mkdtempSync(join(tmpdir(), 'parley-nest-'));
  for (const name of SOURCES) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  writeFileSync(join(folder, SCRIPT), JSON.stringify({ rules: [], otherwise: [{ echo: true }, { complete: 'done' }] }));
  env = {
    ...process.env,
    PATH: path,
    HOST: '127.0.0.1',
    PORT: '0',
    GRPC_PORT: '0',
    LOG_LEVEL: 'info',
  };
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  for (const database of databases) await database.drop();
});

/** Starts a command in the copy, acts on its service once that is ready, and ends both. */
async function whileServing(
  [program, ...args]: [string, ...string[]],
  act: (url: string) => Promise<void>,
): Promise<void> {
  // A group of its own: Nest's command starts the service through a shell, which hands no signal on.
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...env, DATABASE_URL: databases[args.includes('agent') ? 1 : 0]?.url },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk));
  const gone = once(child, 'close').then(() => (said += '\n(ended)'));
  const url = (): string | undefined => / is ready on (http:\S+?)\/?\s/.exec(said)?.[1];
  try {
    await until(() => url() !== undefined || said.endsWith('(ended)'), {
      what: `${args.join(' ')} to be ready`,
      within: START_WITHIN_MS,
    });
    const found = url();
    if (found === undefined) throw new Error(`${args.join(' ')} ended before it was ready: ${said}`);
    await act(found);
  } finally {
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM');
    await gone;
  }
}

async function answersMessages(url: string): Promise<void> {
  const name = unique('nest');
  await new Api(url).save(linear(name, echo('say')));
  const task = await sendTask(`${url}/a2a/workflows/${name}`, 'hello');
  expect(task.artifacts?.[0]?.parts[0]?.text).toBe('hello');
}

/** Builds an application of the tree with Nest's command. */
function buildWithNest(...application: string[]): void {
  const built = spawnSync(NEST, ['build', ...application], { cwd: folder, env, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`nest ended with ${built.status}: ${built.stdout}${built.stderr}`);
  expectBuiltByNest();
}

function expectBuiltByNest(): void {
  expect([MAIN, STAMP].map((file) => existsSync(join(folder, file)))).toEqual([true, false]);
}

/** Starts the service and the agent with Nest's command, which builds each of them first. */
async function startWithNest(): Promise<void> {
  await whileServing([NEST, 'start'], answersMessages);
  await whileServing([NEST, 'start', 'agent', '--', '--script', SCRIPT, '--port', '0'], async (url) => {
    const task = await sendTask(`${url}/a2a`, 'hello');
    expect(task.artifacts?.[0]?.parts[0]?.text).toBe('hello');
  });
}

/** Returns the files of dist/, each with its digest. */
function builtFiles(): Map<string, string> {
  const files = readdirSync(join(folder, 'dist'), { recursive: true, withFileTypes: true }).filter((it) => it.isFile());
  return new Map(
    files
      .map((it) => join(it.parentPath, it.name))
      .sort()
      .map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}

it(
  'Nest builds and starts the service and the agent in a tree without a build, npm after it, and Nest builds the same again',
  async () => {
    await startWithNest();
    expectBuiltByNest();
    const fromSources = builtFiles();
    await whileServing(['npm', 'start'], answersMessages);
    expect(existsSync(join(folder, STAMP))).toBe(true);
    // Nest and npm find in the second tree what they have found in the first one: other starts would show nothing more.
    buildWithNest();
    buildWithNest('agent');
    expect(builtFiles()).toEqual(fromSources);
  },
  TIME_LIMIT_MS,
);

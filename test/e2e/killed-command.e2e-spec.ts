import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ParleyCommand } from '../support/parley-command.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

const RUN = resolve(import.meta.dirname, '../../scripts/run.mjs');
const AGENT = `import { defineAgent } from 'parley-a2a/agent';
export default defineAgent({ name: 'echo', run: async (ctx) => ctx.text });`;
const SLOW = {
  name: 'slow',
  nodes: [
    { id: 'a', type: 'script', config: { script: { otherwise: [{ sleep: 3000 }, { complete: 'done' }] } } },
    { id: 'end', type: 'output', config: { prompt: '{{a}}' } },
  ],
  edges: [{ from: 'a', to: 'end' }],
};

let database: TestDatabase;
let commands: ParleyCommand[];

beforeEach(async () => {
  database = await freshDatabase();
  commands = [];
});

afterEach(async () => {
  for (const command of commands) command.end();
  await database.drop();
});

/** A person at a prompt; `program` is what the command line starts. */
function person(program?: string): ParleyCommand {
  const env = { DATABASE_URL: database.url, LOG_LEVEL: 'error', PORT: '0' };
  const command = new ParleyCommand(env, program);
  commands.push(command);
  writeFileSync(join(command.folder, 'echo.ts'), AGENT);
  return command;
}

interface Started {
  url: string;
  /** Kills the process that was started, and resolves when everything that it started has ended as well. */
  kill(): Promise<void>;
}

async function start(command: ParleyCommand, args: readonly string[]): Promise<Started> {
  const { child, out, err, ended } = command.start(...args);
  const url = await until(() => / is ready on (http:\S+?)\/?\s/.exec(`${out()}${err()}`)?.[1], { what: 'readiness' });
  return {
    url,
    kill: async () => {
      child.kill('SIGKILL');
      // Its output closes when the last process that writes to it has ended.
      await ended();
      await expect(fetch(url)).rejects.toThrow('fetch failed');
    },
  };
}

test.each([
  ['parley start', undefined, ['start']],
  ['parley agent serve', undefined, ['agent', 'serve', 'echo.ts', '--port', '0']],
  ['npm start', RUN, ['src/main']],
  ['npm run agent', RUN, ['apps/agent/src/main', '--port', '0']],
  ['npm run parley -- start', RUN, ['--interactive', 'apps/cli/src/main', 'start']],
])('the service that %s started ends with the killed process, and its port is free again', async (_, program, args) => {
  const command = person(program);
  const { url, kill } = await start(command, args);
  await kill();
  const port = new URL(url).port;
  const again = args.includes('--port') ? args.toSpliced(-1, 1, port) : args;
  await (await start(again === args ? onPort(program, port) : command, again)).kill();
});

function onPort(program: string | undefined, port: string): ParleyCommand {
  const command = new ParleyCommand({ DATABASE_URL: database.url, LOG_LEVEL: 'error', PORT: port }, program);
  commands.push(command);
  return command;
}

test('a run that was at work when the command was killed completes after the same command', async () => {
  const first = await start(person(), ['start']);
  const call = async (url: string, path: string, body?: unknown): Promise<Record<string, string>> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${url}/api${path}`, body === undefined ? {} : init);
    return (await response.json()) as Record<string, string>;
  };
  await call(first.url, '/workflows', SLOW);
  const { runId } = await call(first.url, '/workflows/slow/runs', { inputs: {} });
  await first.kill();
  const second = await start(onPort(undefined, new URL(first.url).port), ['start']);
  await until(async () => (await call(second.url, `/runs/${runId}`))['status'] === 'completed', { what: 'the run' });
  await second.kill();
});

import { chmodSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../support/free-port.mjs';
import { KilledCommand } from '../support/killed-command.js';
import { compileCache, postmasters } from '../support/parley.js';
import { ParleyCommand } from '../support/parley-command.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { Api, linear, script } from '../support/workflow.js';

const stage = useSharedStage();
let parley: ParleyCommand;

beforeEach(() => {
  parley = new ParleyCommand({ PARLEY_URL: stage.parley.url });
});

afterEach(() => parley.end());

const ROOT = resolve(import.meta.dirname, '../..');
const PARLEY = [process.execPath, join(ROOT, 'dist/apps/cli/src/main.js')];
const COMMANDS: [name: string, command: (port: string) => string[]][] = [
  ['parley dev', (port) => [...PARLEY, 'dev', '--port', port]],
  ['parley agent serve', (port) => [...PARLEY, 'agent', 'serve', 'echo.ts', '--port', port]],
  ['npm start', () => ['npm', 'start']],
  ['npm run agent', (port) => ['npm', 'run', 'agent', '--', '--llm', '--port', port]],
  ['npm run parley -- start', () => ['npm', 'run', 'parley', '--', 'start']],
];

describe('a killed command', () => {
  async function ownDatabase(): Promise<TestDatabase> {
    const database = await freshDatabase();
    stage.defer(() => database.drop());
    return database;
  }

  function start(command: readonly string[], port: number, { url }: TestDatabase): KilledCommand {
    const system = { ...compileCache(), PATH: process.env.PATH, HOME: process.env.HOME };
    return KilledCommand.start(command, {
      cwd: command[0] === 'npm' ? ROOT : parley.folder,
      env: { ...system, DATABASE_URL: url, LOG_LEVEL: 'error', PORT: String(port) },
    });
  }

  it('leaves no process behind, and its port is free', async () => {
    const agent = `import { defineAgent } from 'parley-a2a/agent';
export default defineAgent({ name: 'echo', run: async (ctx) => ctx.text });`;
    writeFileSync(join(parley.folder, 'echo.ts'), agent);
    const killed = COMMANDS.map(async ([name, command]) => {
      const [port, database] = await Promise.all([freePort(), ownDatabase()]);
      return [name, await start(command(String(port)), port, database).kill()];
    });
    expect(Object.fromEntries(await Promise.all(killed))).toEqual(
      Object.fromEntries(COMMANDS.map(([name]) => [name, true])),
    );
  });

  it('leaves no embedded database behind', async () => {
    // Where root runs the service, the account of the server must pass the folder.
    chmodSync(parley.folder, 0o755);
    const env = { ...compileCache(), PATH: process.env.PATH, HOME: process.env.HOME, LOG_LEVEL: 'error' };
    const command = [...PARLEY, 'dev', '--port', String(await freePort())];
    const dev = KilledCommand.start(command, { cwd: parley.folder, env });
    await dev.ready();
    const servers = (): number => postmasters(join(parley.folder, '.data')).length;
    expect(servers()).toBe(1);
    expect(await dev.kill()).toBe(true);
    await until(() => servers() === 0, { what: 'the embedded PostgreSQL to stop' });
  });

  it('completes the run that was at work after it is given again, at the same port', async () => {
    const [port, database] = await Promise.all([freePort(), ownDatabase()]);
    const command = [...PARLEY, 'start'];
    const first = start(command, port, database);
    const api = new Api(await first.ready());
    await api.save(linear('slow', script('a', { sleep: 5_000 }, { complete: 'done' })));
    const statusOf = async (runId: string): Promise<string> => (await api.run(runId)).nodes['a']?.status ?? '';
    let [runId, status] = ['', ''];
    // A busy machine may see a run only after its end; another run is started then.
    do {
      runId = await api.start('slow', {});
      const begun = async () => /^(running|completed)$/.exec(await statusOf(runId))?.[0];
      status = await until(begun, { what: 'the run to be at work' });
    } while (status !== 'running');
    expect(await first.kill()).toBe(true);
    const second = start(command, port, database);
    await second.ready();
    expect((await api.ended(runId)).status).toBe('completed');
    expect(await second.kill()).toBe(true);
  });
});

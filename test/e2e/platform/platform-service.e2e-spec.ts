import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { untilReady } from '../../support/until-ready.js';

const HERE = import.meta.dirname;
let dataDir: string;
let child: ChildProcess;

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'parley-service-'));
});

afterEach(async () => {
  if (child.exitCode === null && child.kill()) await once(child, 'exit');
});

afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

describe('a service of nothing but the ground', () => {
  it('answers health and metrics, and prints nothing but its ready line', async () => {
    const service = await boot();
    for (const probe of ['live', 'startup']) expect((await fetch(`${service.url}/health/${probe}`)).status).toBe(200);
    expect(await untilReady(service)).toMatchObject({ info: { database: { status: 'up' } } });
    const metrics = await fetch(`${service.url}/metrics`);
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await metrics.text()).toContain('process_cpu_seconds_total');
    expect(service.output()).toBe(`${service.url}\n`);
  });

  it('on SIGTERM turns not ready, ends streams, lets executions finish, and exits with 0 and no PostgreSQL left', async () => {
    const { url } = await boot({ TEST_EXECUTES: 'true' });
    const stream = await fetch(`${url}/stream`);
    const streamed = stream.text();
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await streamed).toMatch(/^id: 1\ndata: tick\n\n/);
    expect((await fetch(`${url}/health/ready`)).status).toBe(503);
    expect((await fetch(`${url}/health/live`)).status).toBe(200);
    child.kill('SIGUSR2');
    expect(await exited).toEqual([0, null]);
    expect(existsSync(join(dataDir, 'postgres', 'cluster', 'postmaster.pid'))).toBe(false);
  });

  it('lets executions go when the grace time is over', async () => {
    await boot({ TEST_EXECUTES: 'true', SHUTDOWN_GRACE: '300ms' });
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });
});

async function boot(env: Record<string, string> = {}): Promise<{ url: string; output: () => string }> {
  child = spawn(
    process.execPath,
    ['--import', join(HERE, '../../support/typescript-hooks.mjs'), join(HERE, 'platform-app.ts')],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...env },
    },
  );
  let output = '';
  let log = '';
  child.stdout!.on('data', (chunk) => (output += String(chunk)));
  child.stderr!.on('data', (chunk) => (log += String(chunk)));
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const { value, done } = await lines.next();
  if (done) throw new Error(`The service did not start:\n${log}`);
  return { url: value, output: () => output };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describeWithPackages } from './debian-install.js';
import { freePort } from './parley.js';
import { until } from './until.js';
import { endChild } from './end-child.js';

const PROGRAM = '/usr/sbin/pgbouncer';
const asRoot = process.getuid?.() === 0;

/** Describes tests that need Debian's PgBouncer. */
export function describeWithPgBouncer(name: string, tests: () => void): void {
  describeWithPackages(['pgbouncer'], () => existsSync(PROGRAM), name, tests);
}

export type PoolMode = 'session' | 'transaction' | 'statement';

/** Running PgBouncer in front of the server of a URL, for any of its databases. */
export class PgBouncer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly target: URL,
    private readonly port: number,
  ) {}

  static async start(databaseUrl: string, mode: PoolMode): Promise<PgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'parley-pgbouncer-'));
    chmodSync(folder, 0o755);
    const [target, port] = [new URL(databaseUrl), await freePort()];
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(file, settings(target, port, mode), { mode: 0o644 });
    // It refuses to run as root.
    const child = spawn(PROGRAM, [...(asRoot ? ['-u', 'nobody'] : []), file], { stdio: ['ignore', 'pipe', 'pipe'] });
    let log = '';
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (log += chunk));
    const pooler = new PgBouncer(child, folder, target, port);
    await until(() => answers(pooler.url), { what: 'PgBouncer' }).catch(async (error: Error) => {
      await pooler.stop();
      throw new Error(`${error.message}: ${log}`);
    });
    return pooler;
  }

  /** URL of the database through this pooler. */
  get url(): string {
    return Object.assign(new URL(this.target), { host: `127.0.0.1:${this.port}` }).href;
  }

  /** Returns the number of statements that the pooler has passed on to its database. */
  async statements(): Promise<number> {
    const admin = new pg.Client({
      connectionString: Object.assign(new URL(this.url), { pathname: '/pgbouncer' }).href,
    });
    await admin.connect();
    try {
      const { rows } = await admin.query<{ database: string; total_query_count: string }>('SHOW STATS');
      const name = this.target.pathname.slice(1);
      return Number(rows.find(({ database }) => database === name)?.total_query_count ?? 0);
    } finally {
      await admin.end();
    }
  }

  async stop(): Promise<void> {
    await endChild(this.child, 'SIGQUIT');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function settings({ hostname, port, username, password }: URL, ownPort: number, mode: PoolMode): string {
  const secret = password === '' ? '' : ` password='${decodeURIComponent(password)}'`;
  return [
    '[databases]',
    `* = host=${hostname} port=${port || '5432'} user=${username}${secret}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${ownPort}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    'default_pool_size = 40',
    '',
  ].join('\n');
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describeWithPackages } from './debian-install.js';
import { freePort } from './parley.js';
import { until } from './until.js';
import { endChild } from './end-child.js';

const VERSIONS = '/usr/lib/postgresql';

/** Describes tests that need a PostgreSQL with all of its programs, such as pg_dump. */
export function describeWithDebianPostgres(name: string, tests: () => void): void {
  describeWithPackages(['postgresql'], () => programFolder() !== undefined, name, tests);
}

/** PostgreSQL server of Debian's packages on loopback. */
export class DebianPostgres {
  private databases = 0;

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly port: number,
  ) {}

  static async start(): Promise<DebianPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'parley-debian-postgres-'));
    const [data, programs, port] = [join(folder, 'data'), programFolder()!, await freePort()];
    const account = accountOf();
    mkdirSync(data, { mode: 0o700 });
    if (account) for (const it of [folder, data]) chownSync(it, account.uid, account.gid);
    const made = spawnSync(join(programs, 'initdb'), ['-D', data, '-U', 'parley', '--auth=trust', '--no-sync'], {
      ...account,
      cwd: folder,
      encoding: 'utf8',
    });
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
    const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off'];
    const flags = settings.flatMap((it) => ['-c', it]);
    const child = spawn(join(programs, 'postgres'), ['-D', data, '-p', String(port), ...flags], {
      ...account,
      cwd: folder,
      stdio: 'ignore',
    });
    const server = new DebianPostgres(child, folder, port);
    await until(() => server.admin('SELECT 1').then(Boolean, () => false), { what: 'PostgreSQL' });
    return server;
  }

  /**
   * Creates an empty database, and returns its URL. The server does not verify the password, but tests check that it
   * stays secret.
   */
  async database(password: string): Promise<string> {
    this.databases += 1;
    await this.admin(`CREATE DATABASE parley_${this.databases}`);
    return `postgres://parley:${password}@127.0.0.1:${this.port}/parley_${this.databases}`;
  }

  /** Opens a session, which the caller ends. */
  async session(url: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  async stop(): Promise<void> {
    await endChild(this.child, 'SIGQUIT');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async admin(sql: string): Promise<unknown> {
    const client = await this.session(`postgres://parley@127.0.0.1:${this.port}/postgres`);
    try {
      return await client.query(sql);
    } finally {
      await client.end();
    }
  }
}

function programFolder(): string | undefined {
  if (!existsSync(VERSIONS)) return undefined;
  return readdirSync(VERSIONS)
    .filter((version) => Number(version) >= 15)
    .map((version) => join(VERSIONS, version, 'bin'))
    .find((folder) => ['postgres', 'initdb', 'pg_dump', 'pg_restore'].every((name) => existsSync(join(folder, name))));
}

/** Returns the account of Debian's packages that runs PostgreSQL, since PostgreSQL refuses to run as root. */
function accountOf(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim());
  return { uid: id('-u'), gid: id('-g') };
}

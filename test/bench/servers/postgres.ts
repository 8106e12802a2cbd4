import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ROOT } from './bench-server.ts';

/** The PostgreSQL of a case: the embedded server that Parley ships, as Parley sets it, in a folder of its own. */
export interface BenchPostgres {
  /** Its first process, of which all others are children; another one once the server was started again. */
  readonly pid: number;
  /** Makes an empty database of a name that begins so, and gives its URL. */
  database(name: string): Promise<string>;
  /**
   * Bytes of WAL and writing transactions so far, over all databases. Reading ones take no transaction id; their
   * statistics come seconds late.
   */
  counters(): Promise<{ walBytes: number; commits: number }>;
  stop(): Promise<void>;
}

/** Starts it; a server that dies is started again on the same port. */
export async function startPostgres(): Promise<BenchPostgres> {
  const { EmbeddedPostgres } = await import(join(ROOT, 'dist/libs/postgres/src/index.js'));
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  chmodSync(folder, 0o755);
  // On a port: not everybody that is compared knows sockets.
  const server = await EmbeddedPostgres.start({ dataDir: folder, listening: 'loopback' });
  const pool = new pg.Pool({ connectionString: server.url, max: 1, idleTimeoutMillis: 0 });
  pool.on('error', () => undefined);
  let databases = 0;
  return {
    get pid() {
      return Number(readFileSync(join(folder, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0]);
    },
    database: async (name) => {
      databases += 1;
      const url = new URL(server.url);
      url.pathname = `/${name}_${databases}`;
      await pool.query(`CREATE DATABASE ${name}_${databases}`);
      return url.href;
    },
    counters: async () => {
      const { rows } = await pool.query(
        `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal, pg_snapshot_xmax(pg_current_snapshot()) AS commits`,
      );
      return { walBytes: Number(rows[0].wal), commits: Number(rows[0].commits) };
    },
    stop: async () => {
      await pool.end();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ROOT } from './bench-server.ts';

/** PostgreSQL of a case: the embedded server of Parley with Parley's settings, in a separate folder. */
export interface BenchPostgres {
  /** Process id of the postmaster, the parent of all other processes. It changes when the server is restarted. */
  readonly pid: number;
  /** Creates an empty database whose name begins with the given one, and returns its URL. */
  database(name: string): Promise<string>;
  /**
   * Returns the bytes of WAL and the number of writing transactions so far, over all databases. Reading transactions
   * have no transaction id, and their statistics are seconds late.
   */
  counters(): Promise<{ walBytes: number; commits: number }>;
  stop(): Promise<void>;
}

/** Starts the server. If it dies, it is started again on the same port. */
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

import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ROOT } from './start.ts';

/** The PostgreSQL of a bench run: the embedded server that Parley ships, in a folder of its own. */
export interface BenchPostgres {
  /** Its first process: all others are children of it. */
  pid: number;
  /** Makes an empty database. */
  database(name: string): Promise<string>;
  /** Bytes of WAL written and transactions committed so far, over all databases. */
  counters(): Promise<{ walBytes: number; commits: number }>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<BenchPostgres> {
  const { EmbeddedPostgres } = await import(join(ROOT, 'dist/libs/platform/src/index.js'));
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  chmodSync(folder, 0o755);
  const server = await EmbeddedPostgres.start({ dataDir: folder });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  return {
    pid: Number(readFileSync(join(folder, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0]),
    database: async (name) => {
      await client.query(`CREATE DATABASE ${name}`);
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    counters: async () => {
      const { rows } = await client.query(
        `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal, (SELECT sum(xact_commit) FROM pg_stat_database) AS commits`,
      );
      return { walBytes: Number(rows[0].wal), commits: Number(rows[0].commits) };
    },
    stop: async () => {
      await client.end();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

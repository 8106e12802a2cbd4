// The floor under a durable graph: a row for every node that ended, and nothing starts before its row is committed.
// COMMIT=each commits every row by itself; COMMIT=batch has one commit under way and puts all others into the next.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { WIDTH } from './shape.ts';
import { serveRuns } from './serve-runs.ts';

const POOL_SIZE = 20;
const EVENT = JSON.stringify({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } }, pad: 'x'.repeat(150) });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: POOL_SIZE });
await pool.query('CREATE TABLE ended (run text, node text, event json, PRIMARY KEY (run, node))');

const save = process.env.COMMIT === 'batch' ? inBatches() : saveEach;
serveRuns({ chain: () => chain(randomUUID()), fan: () => fan(randomUUID()) });

async function chain(id: string): Promise<void> {
  for (let index = 0; index < WIDTH; index += 1) await save(id, `n${index}`);
}

async function fan(id: string): Promise<void> {
  await save(id, 'first');
  await Promise.all(Array.from({ length: WIDTH }, (_, index) => save(id, `n${index}`)));
  await save(id, 'last');
}

async function saveEach(id: string, node: string): Promise<void> {
  await pool.query({ name: 'each', text: 'INSERT INTO ended VALUES ($1, $2, $3)', values: [id, node, EVENT] });
}

function inBatches(): (id: string, node: string) => Promise<void> {
  let waiting: { id: string; node: string; resolve(): void; reject(error: Error): void }[] = [];
  let busy = false;
  const flush = async (): Promise<void> => {
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const values = [batch.map(({ id }) => id), batch.map(({ node }) => node), batch.map(() => EVENT)];
      const text = 'INSERT INTO ended SELECT * FROM unnest($1::text[], $2::text[], $3::json[])';
      await pool.query({ name: 'batch', text, values }).then(
        () => batch.forEach(({ resolve }) => resolve()),
        (error: Error) => batch.forEach(({ reject }) => reject(error)),
      );
    }
    busy = false;
  };
  return (id, node) =>
    new Promise((resolve, reject) => {
      waiting.push({ id, node, resolve, reject });
      if (!busy) queueMicrotask(() => busy || void flush());
    });
}

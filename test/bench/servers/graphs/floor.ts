// The floor under a durable graph: a row for every node that ended, and nothing starts before its row is committed.
// COMMIT=each commits every row by itself; COMMIT=batch has one commit under way and puts all others into the next.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { SharedCommits } from '../shared-commits.ts';
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
  const commits = new SharedCommits<{ id: string; node: string }>((rows) => {
    const values = [rows.map(({ id }) => id), rows.map(({ node }) => node), rows.map(() => EVENT)];
    const text = 'INSERT INTO ended SELECT * FROM unnest($1::text[], $2::text[], $3::json[])';
    return pool.query({ name: 'batch', text, values });
  });
  return (id, node) => commits.write({ id, node });
}

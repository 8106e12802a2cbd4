import pg from 'pg';
import { SEEDED_ID } from './stored-tasks.ts';

const BATCH = 50_000;
/** Number of workflows that the runs belong to; every second run belongs to the first of them. */
export const WORKFLOWS = 20;

const NEW_ID = `'${SEEDED_ID}' || lpad(n::text, 12, '0')`;

/** Values of the columns of `task`, for the run number `n`. Number 0 is the oldest; there is one in each minute. */
const RUN_COLUMNS: Record<string, string> = {
  task_id: NEW_ID,
  context_id: `'context-' || n`,
  tenant: `CASE WHEN n % 100 = 50 THEN 'other' ELSE tenant END`,
  owner: `CASE WHEN n % 50 = 49 THEN 'caller-' || n % 1000 ELSE owner END`,
  agent: `'workflows/flow_' || CASE WHEN n % 2 = 0 THEN 0 ELSE n % ${WORKFLOWS} END`,
  state: `CASE WHEN n % 1000 = 7 THEN 'TASK_STATE_FAILED' WHEN n % 500 = 3 AND n < $3 / 2 THEN 'TASK_STATE_CANCELED' ELSE state END`,
  created_at: `now() - ($3 - n) * interval '1 minute' - interval '3 seconds'`,
  updated_at: `now() - ($3 - n) * interval '1 minute'`,
};

/**
 * Fills a database with copies of a completed run, each with its own text in the inputs, and with a Task of a node.
 * - A run in a thousand has failed, all of the same workflow; a run in 500 of the older half was canceled.
 * - A run in fifty belongs to one of 20 other callers, a run in a hundred to another tenant.
 * @param text text of the inputs, of which each run has its own with its number
 */
export async function storeRuns(url: string, runId: string, text: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('SET synchronous_commit = off');
    // Tasks that have ended take no events, except from the journal.
    await client.query(`SET parley.journal = 'on'`);
    const columns = await columnsOf(client, 'task');
    const valueOf = (more: Record<string, string>) => columns.map((name) => more[name] ?? RUN_COLUMNS[name] ?? name);
    const inserts = [
      `INSERT INTO task (${columns.join(', ')}) SELECT ${valueOf({}).join(', ')}`,
      `INSERT INTO task (${columns.join(', ')}) SELECT ${valueOf(NODE_COLUMNS).join(', ')}`,
    ];
    for (let from = 0; from < count; from += BATCH) {
      const range = [from, Math.min(from + BATCH, count) - 1];
      for (const insert of inserts)
        await client.query(`${insert} FROM task, generate_series($1::bigint, $2::bigint) AS n WHERE task_id = $4`, [
          ...range,
          count,
          runId,
        ]);
      await client.query(COPY_LOGS, [...range, runId, text]);
    }
    await client.query('CHECKPOINT');
    for (const table of ['task', 'task_log', 'task_count_folded']) await client.query(`VACUUM (ANALYZE) ${table}`);
  } finally {
    await client.end();
  }
}

const NODE_COLUMNS: Record<string, string> = {
  task_id: `'${SEEDED_ID.replace('-8000-', '-9000-')}' || lpad(n::text, 12, '0')`,
  agent: `'workflows/flow_' || n % ${WORKFLOWS} || '/nodes/in'`,
  parent_task_id: NEW_ID,
};

const COPY_LOGS = `
  INSERT INTO task_log (task_id, sequence, events, artifact, recorded_at)
  SELECT ${NEW_ID}, sequence, replace(events, $4, $4 || ' ' || n || '. ' || repeat(md5(n::text), 8)), artifact, recorded_at
  FROM task_log, generate_series($1::bigint, $2::bigint) AS n WHERE task_id = $3`;

async function columnsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
    [table],
  );
  return rows.map(({ name }) => name);
}

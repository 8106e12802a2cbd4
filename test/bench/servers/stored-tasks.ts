import pg from 'pg';

const BATCH = 50_000;
/** Prefix of the ids of copied Tasks, which are UUIDs that end in a number, as the load generator writes it. */
export const SEEDED_ID = '01900000-0000-7000-8000-';

/**
 * Table to copy, with SQL expressions that replace the values of columns: `n` is the copy's number, and `$1` the id of
 * the original Task.
 */
interface CopiedTable {
  table: string;
  /** Column with the Task's id. */
  key: string;
  columns: Record<string, string>;
}

const NEW_ID = `'${SEEDED_ID}' || lpad(n::text, 12, '0')`;
const RENAMED = (column: string): string => `replace(${column}::text, $1, ${NEW_ID})`;

/** Tables of Parley. */
export const PARLEY_TABLES: CopiedTable[] = [
  {
    table: 'task',
    key: 'task_id',
    columns: {
      task_id: NEW_ID,
      context_id: `'context-' || n / 10`,
      created_at: `created_at + n * interval '1 ms'`,
      updated_at: `updated_at + n * interval '1 ms'`,
    },
  },
  { table: 'task_log', key: 'task_id', columns: { task_id: NEW_ID, events: RENAMED('events') } },
];

/** Tables of the official SDK. */
export const SDK_TABLES: CopiedTable[] = [
  {
    table: 'tasks',
    key: 'id',
    columns: {
      id: NEW_ID,
      context_id: `'context-' || n / 10`,
      status_last_updated: 'status_last_updated + n',
      status: RENAMED('status'),
      artifacts: RENAMED('artifacts'),
      history: RENAMED('history'),
    },
  },
];

/** Fills a database with copies of one of its Tasks, numbered from 0. */
export async function storeCopies(url: string, tables: CopiedTable[], taskId: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('SET synchronous_commit = off');
    // Tasks that have ended take no events, except from the journal.
    await client.query(`SET parley.journal = 'on'`);
    for (const copied of tables) await copy(client, copied, taskId, count);
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

async function copy(
  client: pg.Client,
  { table, key, columns }: CopiedTable,
  taskId: string,
  count: number,
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped',
    [table],
  );
  const names = rows.map(({ name }) => name);
  const values = names.map((name) => columns[name] ?? name);
  const insert =
    `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} ` +
    `FROM ${table}, generate_series($2::bigint, $3::bigint) AS n WHERE ${key} = $1 ORDER BY n`;
  for (let from = 0; from < count; from += BATCH) {
    await client.query(insert, [taskId, from, Math.min(from + BATCH, count) - 1]);
  }
  // Nothing is left to do behind the readers' backs.
  await client.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
  await client.query(`VACUUM (FREEZE, ANALYZE) ${table}`);
}

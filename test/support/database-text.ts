import type { TestDatabase } from './postgres.js';

/**
 * Returns every row of every table, including those of the job queue, as one text that tests search for secrets. Bytes
 * are decoded if they are text.
 */
export async function databaseText(database: TestDatabase): Promise<string> {
  const tables = await database.query<{ name: string }>(`
    SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
    WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`);
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await database.query(`SELECT * FROM ${name}`);
    texts.push(JSON.stringify(rows, (_key, value: unknown) => readable(value)));
  }
  return texts.join('\n');
}

function readable(value: unknown): unknown {
  const bytes = value as { type?: string; data?: number[] } | null;
  return bytes?.type === 'Buffer' && bytes.data ? Buffer.from(bytes.data).toString('latin1') : value;
}

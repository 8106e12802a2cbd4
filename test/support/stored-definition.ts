import type { TestDatabase } from './postgres.js';
import type { Workflow } from './workflow.js';

interface JsonColumn {
  table: string;
  column: string;
}

/**
 * Changes the stored definition of a workflow directly in the database, as an older release or an operator might have
 * left it. It assumes only that some JSON column contains `nodes` and `edges`.
 */
export async function rewriteStored(
  database: Pick<TestDatabase, 'query'>,
  workflow: string,
  change: (definition: Workflow) => void,
): Promise<void> {
  let rewritten = 0;
  for (const { table, column } of await jsonColumns(database)) {
    const rows = await database.query<{ place: string; value: unknown }>(
      `SELECT ctid::text AS place, "${column}" AS value FROM "${table}" AS kept WHERE to_json(kept)::text LIKE $1`,
      [`%"${workflow}"%`],
    );
    for (const { place, value } of rows) {
      if (!isDefinition(value)) continue;
      change(value);
      await database.query(`UPDATE "${table}" SET "${column}" = $1 WHERE ctid = $2::tid`, [
        JSON.stringify(value),
        place,
      ]);
      rewritten += 1;
    }
  }
  if (rewritten === 0) throw new Error(`No stored definition of ${workflow} was found`);
}

function jsonColumns(database: Pick<TestDatabase, 'query'>): Promise<JsonColumn[]> {
  return database.query<JsonColumn>(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name LIKE 'workflow%' AND data_type IN ('json', 'jsonb')`,
  );
}

function isDefinition(value: unknown): value is Workflow {
  return typeof value === 'object' && value !== null && 'nodes' in value && Array.isArray(value.nodes);
}

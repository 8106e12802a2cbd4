import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Acknowledgements } from './acknowledgements.ts';

/** Differences between the database and what callers know; all zero if nothing was lost. */
export interface Losses {
  acknowledged: number;
  /** Number of Tasks that callers know and that are not in the database. */
  missing: number;
  /** Number of Tasks that were answered as COMPLETED and are not stored so, with their four events. */
  undone: number;
  /** Number of Tasks whose log is shorter than what a stream has shown. */
  shortened: number;
  /** Number of Tasks, known or not, whose log is not 1..n with the n in their row. */
  torn: number;
  /** Number of known Tasks that have not ended after the last start. */
  unfinished: number;
}

const EVENTS = 4;
const COMPLETED = 'TASK_STATE_COMPLETED';
const RECOVERY_WITHIN_MS = 30_000;

/** Compares the database with the record, after interrupted Tasks have ended or had enough time. */
export async function checkDatabase(url: string, log: Acknowledgements): Promise<Losses> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const deadline = Date.now() + RECOVERY_WITHIN_MS;
    let losses = await compare(client, log);
    while (losses.unfinished > 0 && Date.now() < deadline) {
      await delay(500);
      losses = await compare(client, log);
    }
    return losses;
  } finally {
    await client.end();
  }
}

async function compare(client: pg.Client, log: Acknowledgements): Promise<Losses> {
  const { rows } = await client.query<{ id: string; state: string; last: number; events: number; highest: number }>(
    `SELECT task_id AS id, state, last_sequence AS last, count(sequence)::int AS events, max(sequence)::int AS highest
       FROM task LEFT JOIN task_event USING (task_id) GROUP BY task_id`,
  );
  const stored = new Map(rows.map((row) => [row.id, row]));
  const known = [...log.answered];
  const kept = (id: string): (typeof rows)[number] | undefined => stored.get(id);
  return {
    acknowledged: known.length,
    missing: known.filter(([id]) => !stored.has(id)).length,
    undone: known.filter(([id, state]) => state === COMPLETED && stored.has(id) && !isWhole(kept(id))).length,
    shortened: [...log.seen].filter(([id, sequence]) => (kept(id)?.last ?? 0) < sequence).length,
    torn: rows.filter(({ last, events, highest }) => events !== last || highest !== last).length,
    unfinished: known.filter(([id]) => kept(id)?.state !== COMPLETED).length,
  };
}

function isWhole(row: { state: string; events: number } | undefined): boolean {
  return row?.state === COMPLETED && row.events === EVENTS;
}

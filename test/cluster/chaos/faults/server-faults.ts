import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { OwnPostgres } from '../../../support/own-postgres.js';
import type { FaultStage } from './fault-kind.js';

/** How long a server that has just crashed may take until it can be told something. */
const REACHED_WITHIN_MS = 120_000;
const AGAIN_MS = 200;

const busy = new WeakSet<OwnPostgres>();

/**
 * Breaks the server of the trial while nothing else of this kind does: a server that stands still cannot be told to crash.
 * @returns false where there is no such server, or another fault has it
 */
export async function aloneOnServer(
  { postgres }: Pick<FaultStage, 'postgres'>,
  work: (postgres: OwnPostgres) => Promise<void>,
): Promise<boolean> {
  if (postgres === undefined || busy.has(postgres)) return false;
  busy.add(postgres);
  try {
    await work(postgres);
  } finally {
    busy.delete(postgres);
  }
  return true;
}

/** Tells a server something, again and again: it may be down just then, or its disk full. */
export async function untilTold(tell: () => Promise<void>): Promise<void> {
  const begun = performance.now();
  for (;;) {
    try {
      return await tell();
    } catch (error) {
      if (performance.now() - begun > REACHED_WITHIN_MS) throw error;
      await delay(AGAIN_MS);
    }
  }
}

/** Runs statements in a session of their own. */
export async function toldInSession({ url }: OwnPostgres, ...statements: string[]): Promise<void> {
  const session = new pg.Client({ connectionString: url });
  session.on('error', () => undefined);
  try {
    await session.connect();
    for (const statement of statements) await session.query(statement);
  } finally {
    await session.end().catch(() => undefined);
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { OwnPostgres } from '../../../support/own-postgres.js';
import type { FaultStage } from './fault-kind.js';

/** Milliseconds within which a server that has just crashed must accept a command. */
const REACHED_WITHIN_MS = 120_000;
const AGAIN_MS = 200;

const busy = new WeakSet<OwnPostgres>();

/**
 * Breaks the trial's database server while no other fault of this kind does, since a suspended server cannot be
 * crashed.
 * @returns false if there is no such server, or another fault has it
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

/** Retries a command to the server, which may be down, or have a full disk. */
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

/** Executes statements in a separate session. */
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

import { stopAbandonedServer } from '#libs/postgres';

/**
 * Program that stops the embedded PostgreSQL of a killed process: `stop-abandoned-database ORDER [wait]`. With `wait`,
 * it first waits for the end of its standard input, and ends at once if a line arrives there.
 */
export const begun = stopDatabase(process.argv.slice(2));

async function stopDatabase([order = '', wait]: readonly string[]): Promise<void> {
  if (wait !== undefined) for await (const _line of process.stdin) return;
  await stopAbandonedServer(order);
}

import { stopAbandonedServer } from '#libs/postgres';

/**
 * Program that stops the embedded PostgreSQL of a killed process: `stop-abandoned-database ORDER [wait]`. ORDER is a
 * `GuardOrder` as JSON: it names the server's files and programs. With `wait`, the program first waits for the end of
 * its standard input. If a line arrives there, the program ends and stops nothing.
 */
export const begun = stopDatabase(process.argv.slice(2));

async function stopDatabase([order = '', wait]: readonly string[]): Promise<void> {
  if (wait !== undefined) for await (const _line of process.stdin) return;
  await stopAbandonedServer(order);
}

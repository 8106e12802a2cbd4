import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, EXIT } from './exit-code.js';
import { becomeEntry } from './entry.js';
import { keepApplied } from './kept-folder.js';
import type { Session } from './session.js';
import { keepUp } from './watched-folder.js';

const PLACES = [
  ['console', '/'],
  ['API', '/docs'],
  ['agents', '/a2a/'],
] as const;

/** Turns this process into a service, and applies the workflows of a folder whenever they change. */
export async function startDevService(
  session: Session,
  { folder, port }: { folder: string; port?: string },
): Promise<void> {
  const { terminal } = session;
  const wanted = port === undefined ? (terminal.env['PORT'] ?? '3000') : checkPort(port);
  if (existsSync(folder) && !statSync(folder).isDirectory()) throw new CommandError(`--folder ${folder}: is no folder`);
  session.targetService(`http://127.0.0.1:${wanted}`);
  if (await isAnswering(session.url)) {
    throw new CommandError(`Somebody serves at ${session.url} already; --port names another place`, EXIT.failed);
  }
  // Its log lines are for machines; the lines below are for people.
  const level = terminal.env['LOG_LEVEL'] ?? 'warn';
  if (isFirst(terminal.env)) terminal.writeNote('A database of its own is made here, once …');
  await becomeEntry('src/main', { LOG_LEVEL: level, HOST: '127.0.0.1', PORT: wanted });
  session.endCommand();
  terminal.writeNote(PLACES.map(([what, path]) => `  ${what.padEnd(10)}${session.url}${path}`).join('\n'));
  mkdirSync(folder, { recursive: true });
  // If the folder is removed, only the watch ends; the service keeps running.
  const onUnwatched = (reason: string): void => terminal.writeNote(`parley: ${folder} is watched no more: ${reason}`);
  await keepUp(folder, () => keepApplied(session, folder), onUnwatched);
  terminal.writeNote(`The workflows in ${folder}/ are applied whenever they change. Ctrl-C ends.`);
}

/** True if the database must be created before the service can start, which takes a while. */
function isFirst({ DATABASE_URL = '', DATA_DIR = '.data' }: Session['terminal']['env']): boolean {
  return DATABASE_URL === '' && !existsSync(join(DATA_DIR, 'postgres'));
}

function isAnswering(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function checkPort(text: string): string {
  if (/^\d+$/.test(text) && Number(text) <= 65_535 && Number(text) > 0) return text;
  throw new CommandError(`--port ${text}: must be a number from 1 to 65535`);
}

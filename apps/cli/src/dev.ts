import { existsSync, mkdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '#libs/client';
import { Backoff } from '#libs/service';
import { appliedRevisions, applyFiles, changedOutcomes, describeApplied, plainOutcomes } from './apply.js';
import { becomeEntry } from './entry.js';
import { CommandError, EXIT } from './exit-code.js';
import { reportFailure } from './failure.js';
import { FolderState } from './folder-state.js';
import { savedWorkflows } from './saved-workflows.js';
import type { Session } from './session.js';
import { objectKey, OBJECT_KINDS, savedObjects } from './object-kinds.js';
import { readFolder } from './workflow-files.js';

const BACKOFF = new Backoff(500, 10_000);

/**
 * Applies the current files of a folder to the service. Never rejects.
 * - A problem is reported; the next change of the folder is another attempt.
 * - While the service is temporarily away (503), the call is retried.
 * - A file that had a problem before is reported when it is applied.
 * @param wrong files with problems, shared by all calls for one folder
 */
export async function keepApplied(session: Session, folder: string, wrong = new WrongFiles()): Promise<void> {
  try {
    await BACKOFF.retryWhile(() => applyOnce(session, folder), isPassing);
    wrong.reportRepaired(session);
  } catch (error) {
    wrong.addFailure(error);
    reportSafely(error, session);
  }
}

/** Files with problems since the last time that the folder was applied. */
export class WrongFiles {
  readonly #paths = new Set<string>();

  /** Adds the files that an error names. */
  addFailure(error: unknown): void {
    if (!(error instanceof CommandError)) return;
    const { errors = [] } = error.members as { errors?: { file?: string }[] };
    for (const { file } of errors) if (file !== undefined) this.#paths.add(file);
  }

  /** Reports the files that have no problems any more. Call it when the folder was applied. */
  reportRepaired({ terminal }: Session): void {
    for (const path of [...this.#paths].toSorted()) if (existsSync(path)) terminal.writeNote(`${path}: ok again`);
    this.#paths.clear();
  }
}

async function applyOnce(session: Session, folder: string): Promise<void> {
  const content = readFolder(folder, session.terminal.env);
  const state = new FolderState(folder, session.url);
  // A folder without definitions, from which nothing was ever applied, gets no state files.
  const isEmpty = content.workflows.length === 0 && content.objects.length === 0;
  if (isEmpty && state.readSeen().size === 0) return;
  const answer = await applyFiles(session, content, {
    mark: state.readMark(),
    prune: true,
    adopt: false,
    seen: await seenRevisions(session, state),
  });
  state.recordSeen(appliedRevisions(answer));
  const changed = changedOutcomes(answer);
  if (changed.workflows.length + (changed.objects?.length ?? 0) > 0)
    session.terminal.writeEntry(plainOutcomes(changed), () => describeApplied(session, changed));
}

/** True if the service is temporarily away (503). The session reports this, so the caller only retries. */
function isPassing(error: unknown): boolean {
  return error instanceof ParleyError && error.status === 503;
}

/**
 * Returns the last seen revision of each workflow and object, to send it with the file. The service refuses a file
 * whose revision is not its current one, so a change that was made in the console is not overwritten. Workflows and
 * objects that the service does not have, for example because its database is new, are left out: the service then
 * creates them.
 */
async function seenRevisions(session: Session, state: FolderState): Promise<ReadonlyMap<string, string>> {
  const seen = [...state.readSeen()];
  const there = new Set((await savedWorkflows(session)).map(({ name }) => name));
  for (const kind of OBJECT_KINDS.filter((it) => seen.some(([key]) => key.startsWith(objectKey(it.kind, ''))))) {
    const saved = (await savedObjects(session, kind)) ?? [];
    for (const { name } of saved) there.add(objectKey(kind.kind, name));
  }
  return new Map(seen.filter(([key]) => there.has(key)));
}

/** Reports an error without throwing. A file may disappear while it is read, which must not end the service. */
function reportSafely(error: unknown, session: Session): void {
  try {
    reportFailure(error, session);
  } catch {
    session.terminal.writeNote(`parley: ${(error as Error).message}`);
  }
}

/**
 * Milliseconds to wait after a change of a file before the folder is applied, because editors save a file in several
 * steps.
 */
const SETTLE_MS = 100;

/**
 * Watches a folder: calls `apply` at once and after every change, one call after the other. A change during a call
 * causes another call. Resolves after the first call.
 * @param apply applies the folder's current files; it must never reject
 * @param gone called with the error's message if watching fails; `apply` is then no longer called
 */
export async function applyOnChange(
  folder: string,
  apply: () => Promise<void>,
  gone: (reason: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let work = Promise.resolve();
  const watcher = watch(folder, { recursive: true, ...(signal && { signal }) }, (_, name) => {
    if (name?.toString().includes('.parley')) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      work = work.then(apply);
    }, SETTLE_MS);
  });
  watcher.on('error', ({ message }) => gone(message));
  work = apply();
  await work;
}

const PLACES = [
  ['console', '/'],
  ['API', '/docs'],
  ['agents', '/a2a/'],
] as const;

/**
 * Turns this process into a service, and applies the workflows of a folder now and after every change.
 * @throws CommandError if `folder` is no folder, or another service uses the port
 */
export async function startDevService(
  session: Session,
  { folder, port }: { folder: string; port?: string },
): Promise<void> {
  const { terminal } = session;
  const wanted = port === undefined ? (terminal.env['PORT'] ?? '3000') : checkPort(port);
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new CommandError(`--folder ${folder}: is not a folder`);
  session.targetService(`http://127.0.0.1:${wanted}`);
  if (await isAnswering(session.url)) {
    throw new CommandError(
      `Another process already serves at ${session.url}; choose another port with --port`,
      EXIT.failed,
    );
  }
  // Its log lines are for machines; the lines below are for people.
  const level = terminal.env['LOG_LEVEL'] ?? 'warn';
  if (isFirst(terminal.env)) terminal.writeNote('Creating an embedded database; this happens once …');
  await becomeEntry('src/main', { LOG_LEVEL: level, HOST: '127.0.0.1', PORT: wanted });
  session.endCommand();
  terminal.writeNote(PLACES.map(([what, path]) => `  ${what.padEnd(10)}${session.url}${path}`).join('\n'));
  mkdirSync(folder, { recursive: true });
  const wrong = new WrongFiles();
  // If the folder is removed, only the watch ends; the service keeps running.
  const onUnwatched = (reason: string): void => terminal.writeNote(`parley: ${folder} is no longer watched: ${reason}`);
  await applyOnChange(folder, () => keepApplied(session, folder, wrong), onUnwatched);
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

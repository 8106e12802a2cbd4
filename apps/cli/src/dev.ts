import { existsSync, type FSWatcher, mkdirSync, watch } from 'node:fs';
import { CommandError, EXIT } from './exit-code.js';
import { ended, startEntry } from './entry.js';
import { failure } from './failure.js';
import { FolderState } from './folder-state.js';
import { applyFiles, applied } from './apply.js';
import type { Session } from './session.js';
import { readWorkflowFiles } from './workflow-files.js';

/** Editors write a file in several steps. */
const SETTLE_MS = 100;
const LOOK_MS = 50;

const PLACES = [
  ['console', '/'],
  ['API', '/docs'],
  ['agents', '/a2a/'],
] as const;

/** Runs a service to its end, and keeps its workflows as the files of a folder say. */
export async function dev(session: Session, { folder, port }: { folder: string; port?: string }): Promise<void> {
  const { terminal } = session;
  // Its log lines are for machines; what a person wants to know is said below.
  const env = {
    LOG_LEVEL: 'warn',
    ...process.env,
    HOST: '127.0.0.1',
    ...(port !== undefined && { PORT: portOf(port) }),
  };
  session.at(`http://127.0.0.1:${env.PORT ?? '3000'}`);
  if (await answers(session.url)) {
    throw new CommandError(`Somebody serves at ${session.url} already; --port names another place`, EXIT.failed);
  }
  const end = ended(startEntry('src/main', [], env));
  const watcher = new AbortController();
  void end.finally(() => watcher.abort());
  if (await served(session, watcher.signal)) {
    terminal.note(PLACES.map(([what, path]) => `  ${what.padEnd(10)}${session.url}${path}`).join('\n'));
    mkdirSync(folder, { recursive: true });
    await keep(session, folder);
    terminal.note(`The workflows in ${folder}/ are applied whenever they change. Ctrl-C ends.`);
    watchFolder(folder, watcher.signal, () => keep(session, folder));
  }
  session.code = await end;
}

/** Whether the service came to serve, and did not end. */
async function served({ url }: Session, ended: AbortSignal): Promise<boolean> {
  while (!ended.aborted) {
    if (await answers(url)) return true;
    await new Promise((resolve) => void setTimeout(resolve, LOOK_MS));
  }
  return false;
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** What is wrong is said, and waits for the next change. */
async function keep(session: Session, folder: string): Promise<void> {
  try {
    const files = readWorkflowFiles(folder, session.terminal.env);
    if (files.length === 0) return;
    const state = new FolderState(folder, session.url);
    const answer = await applyFiles(session, files, { mark: state.mark(), prune: true });
    state.see(new Map(answer.workflows.map(({ name, revision }) => [name, revision])));
    const changed = answer.workflows.filter(({ action }) => action !== 'unchanged');
    if (changed.length > 0) session.terminal.line(applied(session, changed));
  } catch (error) {
    failure(error, session);
  }
}

function watchFolder(folder: string, signal: AbortSignal, change: () => Promise<void>): FSWatcher | undefined {
  if (!existsSync(folder)) return undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let work = Promise.resolve();
  return watch(folder, { recursive: true, signal }, (_, name) => {
    if (name?.toString().includes('.parley')) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      work = work.then(change);
    }, SETTLE_MS);
  });
}

function portOf(text: string): string {
  if (/^\d+$/.test(text) && Number(text) <= 65_535 && Number(text) > 0) return text;
  throw new CommandError(`--port ${text}: must be a number from 1 to 65535`);
}

import { setTimeout as delay } from 'node:timers/promises';
import { ParleyError } from '#libs/client';
import { describeApplied, applyFiles } from './apply.js';
import { reportFailure } from './failure.js';
import { FolderState } from './folder-state.js';
import { savedWorkflows } from './saved-workflows.js';
import type { Session } from './session.js';
import { readWorkflowFiles } from './workflow-files.js';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Applies a folder to the service in its current state. Problems are reported and wait for the next change. Failures
 * because the service is temporarily away are retried.
 */
export async function keepApplied(session: Session, folder: string): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await applyOnce(session, folder);
    } catch (error) {
      if (!isPassing(error)) return reportSafely(error, session);
    }
    await delay(pause);
  }
}

async function applyOnce(session: Session, folder: string): Promise<void> {
  const files = readWorkflowFiles(folder, session.terminal.env);
  const state = new FolderState(folder, session.url);
  // Nothing is written into a folder from which nothing was ever applied.
  if (files.length === 0 && state.readSeen().size === 0) return;
  const answer = await applyFiles(session, files, {
    mark: state.readMark(),
    prune: true,
    adopt: false,
    seen: await seenRevisions(session, state),
  });
  state.recordSeen(new Map(answer.workflows.map(({ name, revision }) => [name, revision])));
  const changed = answer.workflows.filter(({ action }) => action !== 'unchanged');
  if (changed.length > 0) {
    const reported = changed.map(({ name, action }) => ({ name, action }));
    session.terminal.writeEntry({ workflows: reported }, () => describeApplied(session, changed));
  }
}

/** True if the service is temporarily away, which the session reports itself. */
function isPassing(error: unknown): boolean {
  return error instanceof ParleyError && error.status === 503;
}

/**
 * Returns the revisions to expect. Changes by the console are not overwritten; workflows missing in a new database are
 * created again.
 */
async function seenRevisions(session: Session, state: FolderState): Promise<ReadonlyMap<string, string>> {
  const there = new Set((await savedWorkflows(session)).map(({ name }) => name));
  return new Map([...state.readSeen()].filter(([name]) => there.has(name)));
}

/** Reports an error. A file may disappear while it is read; that must not end the service. */
function reportSafely(error: unknown, session: Session): void {
  try {
    reportFailure(error, session);
  } catch {
    session.terminal.writeNote(`parley: ${(error as Error).message}`);
  }
}

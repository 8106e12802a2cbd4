import { applied, applyFiles } from './apply.js';
import { failure } from './failure.js';
import { FolderState } from './folder-state.js';
import type { Session } from './session.js';
import { readWorkflowFiles } from './workflow-files.js';

/** Makes the service's workflows those of a folder, as it is now. What is wrong is said, and waits for the next change. */
export async function keepApplied(session: Session, folder: string): Promise<void> {
  try {
    const files = readWorkflowFiles(folder, session.terminal.env);
    const state = new FolderState(folder, session.url);
    // Nothing is written into a folder of which nothing was ever applied.
    if (files.length === 0 && state.seen().size === 0) return;
    const answer = await applyFiles(session, files, {
      mark: state.mark(),
      prune: true,
      seen: await seen(session, state),
    });
    state.see(new Map(answer.workflows.map(({ name, revision }) => [name, revision])));
    const changed = answer.workflows.filter(({ action }) => action !== 'unchanged');
    if (changed.length > 0) {
      const reported = changed.map(({ name, action }) => ({ name, action }));
      session.terminal.entry({ workflows: reported }, () => applied(session, changed));
    }
  } catch (error) {
    report(error, session);
  }
}

/** What the console has changed meanwhile is not replaced; what a new database does not have is made again. */
async function seen({ client }: Session, state: FolderState): Promise<ReadonlyMap<string, string>> {
  const there = new Set((await client.call<{ name: string }[]>('/api/workflows')).map(({ name }) => name));
  return new Map([...state.seen()].filter(([name]) => there.has(name)));
}

/** A file may go while it is read: nothing of that ends the service. */
function report(error: unknown, session: Session): void {
  try {
    failure(error, session);
  } catch {
    session.terminal.note(`parley: ${(error as Error).message}`);
  }
}

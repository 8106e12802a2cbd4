import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Ends a process with a signal, unless it has ended already, and waits until it is gone. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

/** Children that this process ends where it ends itself, each with the id that `process.kill` takes. */
const children = new Map<ChildProcess, number>();

/**
 * Ends a child with SIGKILL where this process ends before it, by `process.exit` or by itself.
 * @param leadsGroup true for a child that was spawned as `detached`: its group ends with it
 * @returns the child
 */
export function endWithProcess<C extends ChildProcess>(child: C, leadsGroup = false): C {
  if (child.pid === undefined) return child;
  if (children.size === 0) process.once('exit', endChildren);
  children.set(child, leadsGroup ? -child.pid : child.pid);
  child.once('exit', () => {
    children.delete(child);
    if (children.size === 0) process.off('exit', endChildren);
  });
  return child;
}

function endChildren(): void {
  for (const id of children.values())
    try {
      process.kill(id, 'SIGKILL');
    } catch {
      // It has ended in the meantime.
    }
}

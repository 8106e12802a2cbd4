import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Ends a process with a signal, unless it has ended already, and waits until it is gone. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

import { isDeepStrictEqual } from 'node:util';
import { formQuestion, isWaitingState } from '#libs/protocol';
import type { TaskHeader, TaskStore } from '#libs/tasks';
import type { LastSequences } from './look-again-job.js';
import { timeOf } from './node-clock.js';
import type { NodeRun } from './node-run.js';

/** What a look at the Tasks of nodes that ask has shown. */
export interface AskingChildren {
  /** Those whose Tasks do not wait for what the run was asked any more. */
  movedOn: NodeRun[];
  /** How far the Tasks were. */
  sequences: LastSequences;
}

/**
 * Of nodes that ask, finds those whose Tasks do not wait for what the run was asked any more: somebody has answered them
 * there, canceled them, or nobody had to. Agents outside are not looked at.
 */
export async function lookAtAsking(
  tasks: Pick<TaskStore, 'headers' | 'load'>,
  waiting: readonly NodeRun[],
): Promise<AskingChildren> {
  const own = waiting.filter(({ type, taskId }) => type !== 'external' && taskId !== undefined);
  if (own.length === 0) return { movedOn: [], sequences: {} };
  const headers = await tasks.headers(own.map(({ taskId = '' }) => taskId));
  const movedOn: NodeRun[] = [];
  for (const node of own) {
    const header = headers.get(node.taskId ?? '');
    if (header && !(await asksTheSame(tasks, node, header))) movedOn.push(node);
  }
  return { movedOn, sequences: Object.fromEntries([...headers].map(([id, { lastSequence }]) => [id, lastSequence])) };
}

/** What a Task asked last it asked before its run heard of it, unless the clocks of two machines differ: then it is read. */
async function asksTheSame(tasks: Pick<TaskStore, 'load'>, node: NodeRun, header: TaskHeader): Promise<boolean> {
  if (!isWaitingState(header.state)) return false;
  if (header.updatedAt.getTime() <= timeOf(node.askedAt ?? '')) return true;
  const message = (await tasks.load(header.taskId))?.task.status.message;
  const [known, now] = [
    { question: node.question, asks: node.asks },
    { question: message?.parts ?? [], asks: formQuestion(message) },
  ];
  return isDeepStrictEqual(known, now);
}

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { formQuestion, isWaitingState } from '#libs/protocol';
import type { TaskHeader, TaskStore } from '#libs/tasks';
import { LRUCache } from 'lru-cache';
import type { LastSequences } from './look-again-job.js';
import type { NodeRun } from './node-run.js';
import { questionId } from './remote-look-job.js';
import type { RunChildStore } from './run-child-store.js';

/** What a look at the Tasks of nodes that ask has shown. */
export interface AskingChildren {
  /** Those whose Tasks do not wait for what the run was asked any more. */
  movedOn: NodeRun[];
  /** How far the Tasks were. */
  sequences: LastSequences;
}

/**
 * Of nodes that ask, finds those whose Tasks do not wait for what the run was asked any more: somebody has answered them
 * there, canceled them, or nobody had to. Agents elsewhere are looked at by jobs, and only their findings are read here.
 */
export async function lookAtAsking(
  { tasks, children }: AskedStores,
  runId: string,
  waiting: readonly NodeRun[],
): Promise<AskingChildren> {
  const [own, elsewhere] = [await lookAtOwn(tasks, waiting), await lookElsewhere(children, runId, waiting)];
  return { ...own, movedOn: [...own.movedOn, ...elsewhere] };
}

export interface AskedStores {
  tasks: Pick<TaskStore, 'headers' | 'load'>;
  children: Pick<RunChildStore, 'movedOn'>;
}

async function lookElsewhere(
  children: AskedStores['children'],
  runId: string,
  waiting: readonly NodeRun[],
): Promise<NodeRun[]> {
  const asking = waiting.filter(({ type, taskId }) => type === 'external' && taskId !== undefined);
  if (asking.length === 0) return [];
  const found = new Set((await children.movedOn(runId)).map(({ nodeId, asked }) => `${nodeId} ${asked}`));
  return asking.filter((node) => found.has(`${node.instance} ${questionId(node)}`));
}

async function lookAtOwn(tasks: AskedStores['tasks'], waiting: readonly NodeRun[]): Promise<AskingChildren> {
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

/**
 * True if a Task still asks what its run knows. The Task itself says so, once for each of its states: the clocks of two
 * replicas say nothing of an order.
 */
async function asksTheSame(tasks: Pick<TaskStore, 'load'>, node: NodeRun, header: TaskHeader): Promise<boolean> {
  if (!isWaitingState(header.state)) return false;
  const known = { question: node.question, asks: node.asks };
  const state = `${header.lastSequence} ${createHash('sha256').update(JSON.stringify(known)).digest('base64')}`;
  if (found.get(header.taskId) === state) return true;
  const message = (await tasks.load(header.taskId))?.task.status.message;
  if (!isDeepStrictEqual(known, { question: message?.parts ?? [], asks: formQuestion(message) })) return false;
  found.set(header.taskId, state);
  return true;
}

/** Tasks that were found to ask what their runs know, and at which of their events: those are not read again. */
const found = new LRUCache<string, string>({ max: 20_000 });

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { formQuestion, isWaitingState } from '#libs/protocol';
import type { TaskHeader, TaskStore } from '#libs/tasks';
import { LRUCache } from 'lru-cache';
import type { LastSequences } from './look-again-job.js';
import type { NodeInstance } from './node-run.js';
import { questionId } from './remote-look-job.js';
import type { RunChildStore } from './run-child-store.js';

/** Result of polling the Tasks of nodes that wait for an answer. */
export interface AskingChildren {
  /** Nodes whose Tasks no longer wait for the question that the run knows. */
  movedOn: NodeInstance[];
  /** Last event sequences of the local Tasks. */
  sequences: LastSequences;
}

/**
 * Finds waiting nodes whose Tasks no longer wait for the question that the run knows. Such a question was answered at
 * the Task itself, the Task was canceled, or it continued without an answer. Remote agents are polled by jobs; only the
 * findings of those jobs are read here.
 */
export async function pollWaitingChildren(
  { tasks, children }: AskedStores,
  runId: string,
  waiting: readonly NodeInstance[],
): Promise<AskingChildren> {
  const [own, elsewhere] = [
    await pollLocalChildren(tasks, waiting),
    await pollRemoteChildren(children, runId, waiting),
  ];
  return { ...own, movedOn: [...own.movedOn, ...elsewhere] };
}

export interface AskedStores {
  tasks: Pick<TaskStore, 'readHeaders' | 'loadTask'>;
  children: Pick<RunChildStore, 'movedOn'>;
}

async function pollRemoteChildren(
  children: AskedStores['children'],
  runId: string,
  waiting: readonly NodeInstance[],
): Promise<NodeInstance[]> {
  const asking = waiting.filter(({ type, taskId }) => type === 'external' && taskId !== undefined);
  if (asking.length === 0) return [];
  const found = new Set((await children.movedOn(runId)).map(({ nodeId, asked }) => `${nodeId} ${asked}`));
  return asking.filter((node) => found.has(`${node.instance} ${questionId(node)}`));
}

async function pollLocalChildren(
  tasks: AskedStores['tasks'],
  waiting: readonly NodeInstance[],
): Promise<AskingChildren> {
  const own = waiting.filter(({ type, taskId }) => type !== 'external' && taskId !== undefined);
  if (own.length === 0) return { movedOn: [], sequences: {} };
  const headers = await tasks.readHeaders(own.map(({ taskId = '' }) => taskId));
  const movedOn: NodeInstance[] = [];
  for (const node of own) {
    const header = headers.get(node.taskId ?? '');
    if (header && !(await isQuestionUnchanged(tasks, node, header))) movedOn.push(node);
  }
  return { movedOn, sequences: Object.fromEntries([...headers].map(([id, { lastSequence }]) => [id, lastSequence])) };
}

/**
 * True if a Task still asks the question that its run knows. Reads the Task itself, once for each of its states: the
 * clocks of two replicas give no order.
 */
async function isQuestionUnchanged(
  tasks: Pick<TaskStore, 'loadTask'>,
  node: NodeInstance,
  header: TaskHeader,
): Promise<boolean> {
  if (!isWaitingState(header.state)) return false;
  const known = { question: node.question, asks: node.asks };
  const state = `${header.lastSequence} ${createHash('sha256').update(JSON.stringify(known)).digest('base64')}`;
  if (found.get(header.taskId) === state) return true;
  const message = (await tasks.loadTask(header.taskId))?.task.status.message;
  if (!isDeepStrictEqual(known, { question: message?.parts ?? [], asks: formQuestion(message) })) return false;
  found.set(header.taskId, state);
  return true;
}

/** Tasks that ask what their runs know, with the state in which they did. They are not loaded again. */
const found = new LRUCache<string, string>({ max: 20_000 });

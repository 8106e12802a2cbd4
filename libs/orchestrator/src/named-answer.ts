import { invalidParams, isWaitingState, type JsonValue, type Message } from '#libs/protocol';
import type { TaskStore } from '#libs/tasks';
import { readNodeId } from './instances.js';
import { namedNode, NODE_KEY } from './run-answer.js';
import type { RunFolds } from './run-folds.js';
import type { RunState } from './run-state.js';
import type { WorkflowDefinition } from './workflow.js';

const FIELD = `message.metadata.${NODE_KEY}`;

/**
 * Rejects a Message to a waiting run if it names a node that asks nothing: the run could not report that it was
 * ignored. Runs that do not accept Messages at all are handled elsewhere.
 * @throws A2AError INVALID_PARAMS with a violation for `message.metadata.node`
 */
export async function refuseUnasked(
  { taskId = '', metadata }: Message,
  definition: WorkflowDefinition,
  { tasks, folds }: { tasks: Pick<TaskStore, 'readHeaders'>; folds: Pick<RunFolds, 'readRunState'> },
): Promise<void> {
  const name = metadata?.[NODE_KEY];
  if (name === undefined) return;
  const header = (await tasks.readHeaders([taskId])).get(taskId);
  if (!header || !isWaitingState(header.state)) return;
  const state = await folds.readRunState(header, definition);
  if (namedNode(state.frontier.waiting, name).length > 0) return;
  throw invalidParams({ field: FIELD, description: whatIsWrong(name, state) });
}

function whatIsWrong(name: JsonValue, state: RunState): string {
  if (typeof name !== 'string') return 'must be the name of a node';
  const isKnown = state.findInstance(name) ?? state.nodes.get(readNodeId(name));
  return isKnown ? 'names a node that asks nothing' : 'names no node of the run';
}

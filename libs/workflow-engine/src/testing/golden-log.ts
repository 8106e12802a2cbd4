import { ANONYMOUS_SCOPE, type TaskEvent } from '#libs/tasks';
import { InvalidWorkflow, type WorkflowDefinition, WorkflowGraph } from '#libs/workflow-definition';
import type { Plan } from '../state/frontier.js';
import { RunState, planNext } from '../state/run-state.js';
import { runView } from '../views/run-view.js';

/** Applies a log. Returns the plan and the view of the run, and the members of its state that no view shows. */
export function folded(definition: WorkflowDefinition, events: readonly TaskEvent[]): unknown {
  const state = RunState.fromEvents(definition, events);
  return { plan: planOf(state), hidden: hiddenOf(state), view: viewOf(definition, events) };
}

/** Returns the members of a run's state that no view shows. @param state state after the events of a log */
export function hiddenOf(state: RunState): unknown {
  const { text, received, begunBy, undelivered, failureReported, size } = state;
  const nodes = [...state.nodes.values()].map(({ id, contextId, messageId, question, wantsAuth, answer }) => [
    id,
    { contextId, messageId, question, wantsAuth, answer: answer?.messageId },
  ]);
  const run = { text, received: received?.messageId, begunBy, undelivered, failureTold: failureReported, size };
  return { ...run, nodes: Object.fromEntries(nodes) as unknown };
}

/** Returns the plan of a run; `undefined` if its definition has no valid graph. */
export function planOf(state: RunState): unknown {
  try {
    WorkflowGraph.buildValid(state.definition);
    return plainPlan(planNext(state, Date.now()));
  } catch (error) {
    if (error instanceof InvalidWorkflow) return undefined;
    throw error;
  }
}

/** Returns the part of a plan that concerns plain definitions: nodes to start, nodes to cancel, and the outcome. */
export function plainPlan({ start, stop, outcome }: Plan): object {
  const ids = (nodes: Plan['start']) => nodes.map(({ instance }) => instance);
  return { ready: ids(start), stop: ids(stop), ...(outcome && { outcome }) };
}

function viewOf(definition: WorkflowDefinition, events: readonly TaskEvent[]): unknown {
  const header = {
    taskId: 'run-1',
    contextId: 'context-1',
    ...ANONYMOUS_SCOPE,
    agent: `workflows/${definition.name}`,
    state: 'TASK_STATE_WORKING' as const,
    lastSequence: events.length,
    createdAt: new Date(0),
    updatedAt: new Date(0),
  };
  return runView({ header, definition, events, baseUrl: 'http://own' });
}

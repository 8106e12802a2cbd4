import { malformed, oneOf, type PageQuery, readPageQuery, single } from '#libs/http';
import type { TaskState } from '#libs/protocol';
import type { RunStatus } from '../node-run.js';
import { WORKFLOW_NAME } from '../workflow-problems.js';

/** The states of a run's Task that a word for a run stands for. */
export const STATES_OF: Record<RunStatus, readonly TaskState[]> = {
  running: ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'],
  'input-required': ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'],
  completed: ['TASK_STATE_COMPLETED'],
  failed: ['TASK_STATE_FAILED', 'TASK_STATE_REJECTED'],
  canceled: ['TASK_STATE_CANCELED'],
};

/** Which runs are asked for. */
export interface RunQuery extends PageQuery {
  workflow?: string;
  status?: RunStatus;
}

/** @throws ProblemError 400 naming the parameter */
export function readRunQuery(query: Record<string, unknown>): RunQuery {
  const workflow = single(query, 'workflow');
  if (workflow !== undefined && !WORKFLOW_NAME.test(workflow)) {
    throw malformed({ path: 'workflow', detail: 'is not a name of a workflow' });
  }
  const status = oneOf(query, 'status', Object.keys(STATES_OF) as RunStatus[]);
  return { workflow, status, ...readPageQuery(query) };
}

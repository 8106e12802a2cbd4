import type { ProcessListing } from '#libs/process';
import { firstData, isJsonObject, type Task } from '#libs/protocol';
import type { StoredTask } from '#libs/tasks';
import { BRAINSTORM_PATH } from '../brainstorm-agent.js';
import { REST_KEY } from '../brainstorm-ending.js';
import type { BrainstormStatus } from '../brainstorm-progress.js';
import { specIn } from '../brainstorm-spec.js';
import type { CanonicalState } from '../core/canonical-state.js';
import { type BrainstormSummary, STATES_OF, STATUSES } from './brainstorm.dto.js';

/** How brainstorms are listed. */
export const BRAINSTORMS: ProcessListing<BrainstormStatus, BrainstormSummary> = {
  agent: BRAINSTORM_PATH,
  states: STATES_OF,
  statusOf: ({ task }) => statusOf(task),
  summary,
};

function summary({ header, task }: StoredTask): BrainstormSummary {
  const state = firstData(task.artifacts?.[0]?.parts ?? []);
  const iteration = isJsonObject(state) ? (state as unknown as CanonicalState).meta.iteration : 0;
  return {
    brainstormId: header.taskId,
    status: statusOf(task),
    iteration,
    idea: specIn(task.metadata).idea,
    createdAt: header.createdAt.toISOString(),
    updatedAt: header.updatedAt.toISOString(),
  };
}

function statusOf({ status }: Task): BrainstormStatus {
  if (status.state === 'TASK_STATE_INPUT_REQUIRED') {
    return status.message?.metadata?.[REST_KEY] === 'failed' ? 'failed' : 'converged';
  }
  return STATUSES.find((word) => STATES_OF[word].includes(status.state)) ?? 'failed';
}

import type { ProcessListing } from '#libs/process';
import { firstData, isJsonObject, type Task, withoutUserinfo } from '#libs/protocol';
import type { StoredTask, TaskHeader } from '#libs/tasks';
import { BRAINSTORM_PATH } from '../brainstorm-agent.js';
import { AWAITED_STATUS_KEY } from '../brainstorm-ending.js';
import type { BrainstormProgress, BrainstormStatus } from '../brainstorm-progress.js';
import { specIn } from '../brainstorm-spec.js';
import type { CanonicalState } from '../core/canonical-state.js';
import { type BrainstormSummary, type BrainstormView, STATES_OF, STATUSES } from './brainstorm.dto.js';

/** Returns what callers see of a brainstorm. */
export function brainstormView(header: TaskHeader, progress: BrainstormProgress): BrainstormView {
  const { spec, state, verdict, failure, stopped } = progress;
  return {
    brainstormId: header.taskId,
    status: progress.status,
    iteration: state.meta.iteration,
    maxIterations: spec.maxIterations,
    agents: spec.agents.map(({ agent, name, role, llm: { provider, model }, skills }) => {
      return { agent: withoutUserinfo(agent), name, role, provider, model, skills };
    }),
    state,
    provenance: progress.provenance,
    passes: progress.passes.map(({ iteration, agents, confidence }) => ({
      iteration,
      agents: agents.map(({ agent, role, status, error, repairs, usage }) => ({
        agent,
        role,
        status,
        ...(error !== undefined && { error }),
        ...(repairs !== undefined && { repairs }),
        ...(usage && { usage }),
      })),
      ...(confidence !== undefined && { confidence }),
    })),
    ...(verdict?.converged && { convergence: verdict.sentence }),
    ...(failure && { error: failure }),
    ...(stopped && { stopped }),
    createdAt: header.createdAt.toISOString(),
    updatedAt: header.updatedAt.toISOString(),
  };
}

/** Rules for listing brainstorms. */
export const BRAINSTORMS: ProcessListing<BrainstormStatus, BrainstormSummary> = {
  agent: BRAINSTORM_PATH,
  states: STATES_OF,
  statusOf: ({ task }) => brainstormStatus(task),
  summary,
};

function summary({ header, task }: StoredTask): BrainstormSummary {
  const state = firstData(task.artifacts?.[0]?.parts ?? []);
  const iteration = isJsonObject(state) ? (state as unknown as CanonicalState).meta.iteration : 0;
  return {
    brainstormId: header.taskId,
    status: brainstormStatus(task),
    iteration,
    idea: specIn(task.metadata).idea,
    createdAt: header.createdAt.toISOString(),
    updatedAt: header.updatedAt.toISOString(),
  };
}

function brainstormStatus({ status }: Task): BrainstormStatus {
  if (status.state === 'TASK_STATE_INPUT_REQUIRED') {
    return status.message?.metadata?.[AWAITED_STATUS_KEY] === 'failed' ? 'failed' : 'converged';
  }
  return STATUSES.find((word) => STATES_OF[word].includes(status.state)) ?? 'failed';
}

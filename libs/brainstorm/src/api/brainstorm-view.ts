import type { TaskHeader } from '#libs/tasks';
import { withoutUserinfo } from '#libs/protocol';
import type { BrainstormProgress } from '../brainstorm-progress.js';
import type { BrainstormView } from './brainstorm.dto.js';

/** What callers see of a brainstorm. */
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
      agents: agents.map(({ agent, role, status, error }) => ({
        agent,
        role,
        status,
        ...(error !== undefined && { error }),
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

import type { TaskHeader } from '#libs/tasks';
import { withoutUserinfo } from '#libs/protocol';
import type { AgentTurn, BrainstormProgress, BrainstormStatus } from '../brainstorm-progress.js';
import type { StoppedAgent } from '../brainstorm-steps.js';
import type { CanonicalState } from '../core/canonical-state.js';
import type { Provenance } from '../core/provenance.js';
import type { Role } from '../core/role.js';

/** An agent of a brainstorm, as it takes part. */
export interface AgentView {
  agent: string;
  name: string;
  role: Role;
  provider: string;
  model: string;
  skills: string[];
}

export interface PassView {
  iteration: number;
  agents: { agent: string; role: Role; status: AgentTurn['status']; error?: string }[];
  /** Absent until the pass is complete. */
  confidence?: number;
}

/** A brainstorm as `GET /api/brainstorms/{id}` shows it. */
export interface BrainstormView {
  brainstormId: string;
  status: BrainstormStatus;
  /** Of the last complete pass. */
  iteration: number;
  maxIterations: number;
  agents: AgentView[];
  state: CanonicalState;
  provenance: Provenance;
  passes: PassView[];
  convergence?: string;
  error?: { agent?: string; message: string };
  /** What became of the agent at work, once the brainstorm was canceled. */
  stopped?: StoppedAgent[];
  createdAt: string;
  updatedAt: string;
}

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

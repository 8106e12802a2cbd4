import type { CanceledCall } from '#libs/agent-calls';
import type { JsonObject, RunEventNote } from '#libs/protocol';
import type { AgentTokenUsage } from './answer-report.js';
import type { StateContent } from './core/canonical-state.js';
import type { Convergence } from './core/convergence.js';
import type { Provenance } from './core/provenance.js';
import type { BrainstormRole } from './core/role.js';

/** Pass and agent that a step is about. */
export interface AgentTurnPlace {
  iteration: number;
  /** Position of the agent, from 0. */
  position: number;
  agent: string;
  role: BrainstormRole;
}

/** Outcome for an agent's Task when its brainstorm was stopped. */
export interface StoppedAgent extends CanceledCall {
  agent: string;
}

/** Payloads of a brainstorm's steps, by type. */
export interface BrainstormStepPayloads {
  'iteration.started': { iteration: number };
  /**
   * A call is about to start; `attempt` counts from 1 over the whole pass. `credential` names the credential of a call
   * to an agent elsewhere.
   */
  'agent.started': AgentTurnPlace & { attempt: number; url: string; messageId: string; credential?: string };
  /** The agent has created a Task. */
  'agent.phase': AgentTurnPlace & { taskId: string; phase: string };
  /** The agent's answer had no valid state; the agent is asked again, or `agent.error` follows. */
  'agent.rejected': AgentTurnPlace & { error: string; usage?: AgentTokenUsage };
  /** The agent sent an answer back to its model for these faults, before the answer of the next event. */
  'agent.repaired': AgentTurnPlace & { faults: string };
  'agent.completed': AgentTurnPlace & { state: StateContent; usage?: AgentTokenUsage };
  /** Stops the pass until a caller continues it. */
  'agent.error': AgentTurnPlace & { error: string };
  /** Metadata of the Artifact with the merged state. */
  'iteration.completed': { iteration: number; confidence: number; provenance: Provenance; verdict: Convergence };
  'brainstorm.converged': { iteration: number; convergence: string };
  'brainstorm.failed': { iteration: number; agent: string; error: string };
  'brainstorm.approved': { iteration: number };
  'brainstorm.canceled': { agents: StoppedAgent[] };
}

/** Types of a brainstorm's events. The first two are its start and a caller's request for another pass. */
export const BRAINSTORM_EVENT_TYPES = [
  'brainstorm.started',
  'iteration.requested',
  'iteration.started',
  'agent.started',
  'agent.phase',
  'agent.rejected',
  'agent.repaired',
  'agent.completed',
  'agent.error',
  'iteration.completed',
  'brainstorm.converged',
  'brainstorm.failed',
  'brainstorm.approved',
  'brainstorm.canceled',
] as const;

export type BrainstormEventType = (typeof BRAINSTORM_EVENT_TYPES)[number];

export function brainstormNote<T extends keyof BrainstormStepPayloads>(
  type: T,
  payload: BrainstormStepPayloads[T],
): RunEventNote {
  return { type, payload: payload as unknown as JsonObject };
}

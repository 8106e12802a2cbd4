import type { CanceledCall } from '#libs/agent-calls';
import type { JsonObject, RunEventNote } from '#libs/protocol';
import type { TokenUsage } from './answer-report.js';
import type { StateContent } from './core/canonical-state.js';
import type { Convergence } from './core/convergence.js';
import type { Provenance } from './core/provenance.js';
import type { Role } from './core/role.js';

/** Which agent of which pass a step is about. */
export interface AgentPlace {
  iteration: number;
  /** From 0. */
  position: number;
  agent: string;
  role: Role;
}

/** What became of an agent's Task when its brainstorm was stopped. */
export interface StoppedAgent extends CanceledCall {
  agent: string;
}

/** The steps of a brainstorm, by type, with what each says. */
export interface BrainstormStepPayloads {
  'iteration.started': { iteration: number };
  /**
   * A call is about to be made; `attempt` counts from 1 over the whole pass. `credential` names what proves the call to an
   * agent elsewhere.
   */
  'agent.started': AgentPlace & { attempt: number; url: string; messageId: string; credential?: string };
  /** The agent has made a Task. */
  'agent.phase': AgentPlace & { taskId: string; phase: string };
  /** The agent's state was none; it is asked once more, or `agent.error` follows. */
  'agent.rejected': AgentPlace & { error: string; usage?: TokenUsage };
  /** The agent sent an answer back to its model because of these faults, before the answer that is told next. */
  'agent.repaired': AgentPlace & { faults: string };
  'agent.completed': AgentPlace & { state: StateContent; usage?: TokenUsage };
  /** Ends the pass for now. */
  'agent.error': AgentPlace & { error: string };
  /** Carried by the Artifact that is the merged state. */
  'iteration.completed': { iteration: number; confidence: number; provenance: Provenance; verdict: Convergence };
  'brainstorm.converged': { iteration: number; convergence: string };
  'brainstorm.failed': { iteration: number; agent: string; error: string };
  'brainstorm.approved': { iteration: number };
  'brainstorm.canceled': { agents: StoppedAgent[] };
}

/** The types of a brainstorm's events; the first two are its beginning and a caller's wish for another pass. */
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

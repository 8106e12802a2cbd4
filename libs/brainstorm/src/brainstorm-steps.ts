import { BRAINSTORM_ENTRY } from '#libs/agents';
import type { CanceledCall } from '#libs/durable';
import { briefText, isJsonObject, type JsonObject, type JsonValue, type RunEventNote } from '#libs/protocol';
import type { Provenance, StateContent } from './core/canonical-state.js';
import type { Convergence } from './core/convergence.js';
import type { BrainstormRole } from './core/role.js';

/** Tokens that a model used, as its agent counts them. */
export interface AgentTokenUsage {
  inputTokens: number;
  outputTokens: number;
}

/**
 * Report that an agent adds to a state: the faults of earlier answers that the agent sent back to its model for a
 * repair, and the tokens that the model used.
 */
export interface AnswerReport {
  /** Faults of each answer that the agent sent back to its model before it returned the state. */
  repairs: string[];
  usage?: AgentTokenUsage;
}

/** Maximum repairs that are read from a report. */
const MOST_REPAIRS = 10;
/** Maximum characters of the faults of one repair. */
const LONGEST_FAULTS = 2_000;

/**
 * Returns the report in the metadata of an agent's Artifact. Only its form is validated: the counts are taken from
 * the agent as they are.
 */
export function answerReport(metadata: JsonObject | undefined): AnswerReport {
  const report = metadata?.[BRAINSTORM_ENTRY];
  if (!isJsonObject(report)) return { repairs: [] };
  const { repairs, usage } = report;
  const texts = Array.isArray(repairs) ? repairs.filter((it) => typeof it === 'string') : [];
  const tokens = usageIn(usage);
  return {
    repairs: texts.slice(0, MOST_REPAIRS).map((text) => briefText(text, LONGEST_FAULTS)),
    ...(tokens && { usage: tokens }),
  };
}

/** Returns the sum of two token usages. */
export function addedUsage(
  before: AgentTokenUsage | undefined,
  { inputTokens, outputTokens }: AgentTokenUsage,
): AgentTokenUsage {
  return {
    inputTokens: (before?.inputTokens ?? 0) + inputTokens,
    outputTokens: (before?.outputTokens ?? 0) + outputTokens,
  };
}

function usageIn(value: JsonValue | undefined): AgentTokenUsage | undefined {
  if (!isJsonObject(value)) return undefined;
  const { inputTokens, outputTokens } = value;
  return isCount(inputTokens) && isCount(outputTokens) ? { inputTokens, outputTokens } : undefined;
}

function isCount(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Pass and agent that a step is about. */
export interface AgentTurnPlace {
  iteration: number;
  /** Position of the agent in the order of a pass, from 0. */
  position: number;
  agent: string;
  role: BrainstormRole;
}

/** Outcome of canceling an agent's Task when its brainstorm was stopped. */
export interface StoppedAgent extends CanceledCall {
  agent: string;
}

/** Payloads of a brainstorm's steps, by type. */
export interface BrainstormStepPayloads {
  'iteration.started': { iteration: number };
  /**
   * A call is about to start. `attempt` counts the calls of this turn from 1, over the whole pass. `credential` is
   * the name of the credential, if the agent is a remote one.
   */
  'agent.started': AgentTurnPlace & { attempt: number; url: string; messageId: string; credential?: string };
  /** The agent has created a Task. */
  'agent.phase': AgentTurnPlace & { taskId: string; phase: string };
  /** The agent's answer had no valid state; the agent is called again, or `agent.error` follows. */
  'agent.rejected': AgentTurnPlace & { error: string; usage?: AgentTokenUsage };
  /**
   * The agent sent an earlier answer back to its model for these faults. Recorded before `agent.completed` or
   * `agent.rejected`.
   */
  'agent.repaired': AgentTurnPlace & { faults: string };
  'agent.completed': AgentTurnPlace & { state: StateContent; usage?: AgentTokenUsage };
  /** The turn failed. The pass stops there until a caller continues it. */
  'agent.error': AgentTurnPlace & { error: string };
  /** The pass is complete. These data are metadata of the Artifact with the merged state. */
  'iteration.completed': { iteration: number; confidence: number; provenance: Provenance; verdict: Convergence };
  'brainstorm.converged': { iteration: number; convergence: string };
  'brainstorm.failed': { iteration: number; agent: string; error: string };
  'brainstorm.approved': { iteration: number };
  'brainstorm.canceled': { agents: StoppedAgent[] };
}

/**
 * Types of a brainstorm's events. `brainstorm.started` is its first event; `iteration.requested` is a caller's request
 * to continue.
 */
const BRAINSTORM_EVENT_TYPES = [
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

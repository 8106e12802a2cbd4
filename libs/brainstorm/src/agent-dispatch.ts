import { dataPart, derivedId, type SendMessageRequest, userMessage } from '#libs/protocol';
import type { PassTurn, BrainstormProgress } from './brainstorm-progress.js';
import type { SettledAgent, BrainstormSpec } from './brainstorm-spec.js';
import { type CanonicalState, stateJson } from './core/canonical-state.js';
import { sentConfig } from './core/llm-config.js';
import { systemPrompt } from './core/system-prompt.js';

/**
 * Returns the messageId of a turn. It depends only on the brainstorm, pass, agent and attempt, so an agent can detect a
 * repeated call.
 */
export function turnMessageId(brainstormId: string, iteration: number, position: number, attempt: number): string {
  return derivedId(brainstormId, iteration, position, attempt);
}

/**
 * Returns the request of an agent's turn: one data Part with four members. A local agent shares the brainstorm's
 * context; others have their own.
 */
export function turnRequest(progress: BrainstormProgress, turn: PassTurn, contextId: string): SendMessageRequest {
  const { spec } = progress;
  const agent = spec.agents[turn.position];
  if (agent === undefined) throw new RangeError(`The brainstorm has no agent at ${turn.position}`);
  const payload = {
    role: agent.role,
    systemPrompt: promptOf(spec, agent, turn),
    llmConfig: sentConfig(agent.llm),
    state: stateJson(stateBefore(progress, turn)),
  };
  const own = 'path' in agent.target;
  return {
    message: userMessage([dataPart(payload)], {
      messageId: turn.messageId ?? '',
      ...(own && { contextId }),
    }),
    configuration: { acceptedOutputModes: ['application/json', 'text/plain'] },
  };
}

function promptOf({ systemPrompt: base }: BrainstormSpec, agent: SettledAgent, { faults }: PassTurn): string {
  const { role, skillWords } = agent;
  return systemPrompt({ base, role, skillWords, faults });
}

/** Returns the state that an agent receives: the state of the agent before it, with the service's own `meta`. */
export function stateBefore({ pass, state, history }: BrainstormProgress, { position }: PassTurn): CanonicalState {
  const previous = position > 0 ? pass?.agents[position - 1]?.state : undefined;
  const iteration = pass?.iteration ?? history.length;
  return { ...state, ...previous, meta: { ...state.meta, iteration } };
}

import { dataPart, derivedId, type SendMessageRequest, userMessage } from '#libs/protocol';
import type { AgentTurn, BrainstormProgress } from './brainstorm-progress.js';
import type { BrainstormAgent, BrainstormSpec } from './brainstorm-spec.js';
import { type CanonicalState, stateJson } from './core/canonical-state.js';
import { sentConfig } from './core/llm-config.js';
import { systemPrompt } from './core/system-prompt.js';

/** The same for the same brainstorm, pass, agent and attempt: an agent can tell a repeated call from a new one. */
export function turnMessageId(brainstormId: string, iteration: number, position: number, attempt: number): string {
  return derivedId(brainstormId, iteration, position, attempt);
}

/**
 * The request of an agent's turn: one data Part with four keys and nothing else. An agent of ours shares
 * the brainstorm's context; others have their own.
 */
export function turnRequest(progress: BrainstormProgress, turn: AgentTurn, contextId: string): SendMessageRequest {
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

function promptOf({ systemPrompt: base }: BrainstormSpec, agent: BrainstormAgent, { faults }: AgentTurn): string {
  const { role, skillWords } = agent;
  return systemPrompt({ base, role, skillWords, faults });
}

/** Returns what an agent works on: what the one before it made of the state, with our own `meta`. */
export function stateBefore({ pass, state, history }: BrainstormProgress, { position }: AgentTurn): CanonicalState {
  const previous = position > 0 ? pass?.agents[position - 1]?.state : undefined;
  const iteration = pass?.iteration ?? history.length;
  return { ...state, ...previous, meta: { ...state.meta, iteration } };
}

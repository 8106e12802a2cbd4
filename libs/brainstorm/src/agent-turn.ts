import type { CalledTask } from '#libs/a2a-client';
import { type CallOutcome, withStatusText } from '#libs/durable';
import { dataPart, derivedId, type Part, type SendMessageRequest, userMessage } from '#libs/protocol';
import type { BrainstormProgress, PassTurn } from './brainstorm-progress.js';
import type { BrainstormSpec, SettledAgent } from './brainstorm-spec.js';
import { type AnswerReport, answerReport } from './brainstorm-steps.js';
import {
  type CanonicalState,
  EXAMPLE_STATE,
  InvalidState,
  readState,
  STATE_SCHEMA,
  type StateContent,
  stateJson,
} from './core/canonical-state.js';
import { sentConfig } from './core/llm-config.js';
import type { BrainstormRole } from './core/role.js';

/** Base prompt of every agent, unless the brainstorm sets `systemPrompt`. */
export const BASE_PROMPT = [
  'You are one of several agents who develop an idea together by changing one shared state, one after the other.',
  'You receive the state as JSON. Answer with the whole state, changed as your role asks, in the same form.',
  'Keep what others said unless you improve on it. State your confidence in the whole as a number from 0 to 1.',
].join(' ');

const ROLE_PROMPTS: Record<BrainstormRole, string> = {
  build:
    'Your role is to build: describe an architecture and a plan of concrete steps for the idea, and what they assume.',
  review:
    'Your role is to review: name the risks of architecture and plan with their severity, and ask what is still open.',
  refine:
    'Your role is to refine: resolve risks by changing architecture or plan, answer open questions, and sharpen steps.',
  devils_advocate:
    "Your role is to be the devil's advocate: challenge what all others take for granted, and say how it could fail.",
};

/** Prompt that describes the form of the answer. It is sent even if the caller sets a base prompt. */
const SHAPE_PROMPT = [
  'Answer with the whole changed state as one JSON object and nothing else. `meta` may be left out: it is ignored.',
  `The object must be valid against this JSON Schema: ${JSON.stringify(STATE_SCHEMA)}`,
  `This is an example of the form alone; nothing in it belongs to your idea: ${JSON.stringify(EXAMPLE_STATE)}`,
].join('\n');

/** Parts of an agent's prompt. */
export interface PromptParts {
  /** Base prompt that the caller set; `undefined`: BASE_PROMPT is used. */
  base: string | undefined;
  role: BrainstormRole;
  skillWords: readonly string[];
  /** Faults of the agent's last rejected answer in this pass; `undefined` if none was rejected. */
  faults?: string | undefined;
}

/**
 * Returns the complete prompt of an agent: the base, its role, its skills, the form of the answer, and the faults of
 * its previous answer. Agents of this service use this prompt as it is.
 */
export function systemPrompt({ base, role, skillWords, faults }: PromptParts): string {
  const parts = [base ?? BASE_PROMPT, ROLE_PROMPTS[role], ...skillWords, SHAPE_PROMPT, ...describeFaults(faults)];
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n');
}

function describeFaults(faults: string | undefined): string[] {
  if (faults === undefined) return [];
  return [
    `Your last answer was not accepted, and nothing of it was kept: ${faults}. Answer again, without these faults.`,
  ];
}

/**
 * Returns the messageId of one attempt of a turn. It depends only on the brainstorm, pass, agent and attempt, so an
 * agent can detect a repeated call.
 */
export function turnMessageId(brainstormId: string, iteration: number, position: number, attempt: number): string {
  return derivedId(brainstormId, iteration, position, attempt);
}

/**
 * Returns the request of an agent's turn: one data Part with the role, the prompt, the model settings and the state. A
 * local agent gets the brainstorm's contextId; a remote agent chooses its own.
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

/**
 * Returns the state that an agent receives: the answer of the previous agent in this pass, or for the first agent the
 * last merged state. Its `meta` is always written by the service.
 */
export function stateBefore({ pass, state, history }: BrainstormProgress, { position }: PassTurn): CanonicalState {
  const previous = position > 0 ? pass?.agents[position - 1]?.state : undefined;
  const iteration = pass?.iteration ?? history.length;
  return { ...state, ...previous, meta: { ...state.meta, iteration } };
}

/** Result of an agent's turn. */
export type TurnOutcome =
  | { kind: 'state'; state: StateContent; report: AnswerReport }
  /** The answer is not a valid state; the agent may be called again. */
  | { kind: 'rejected'; error: string; report: AnswerReport }
  | { kind: 'failed'; error: string };

/**
 * Returns the result of a turn from the outcome of its call. Only a data Part of a completed Task's Artifacts can be a
 * state: text and a direct Message cannot.
 * @param before state that the agent was sent
 */
export function turnOutcome(outcome: CallOutcome, before: StateContent): TurnOutcome {
  const { answer } = outcome;
  if (outcome.kind === 'failed') return failTurn(outcome.failure.message);
  if (outcome.kind === 'waiting')
    return failTurn(withStatusText(answer, 'the agent asks for input, which a brainstorm cannot provide'));
  if (answer.reply) return failTurn('no state: the agent answered with a Message instead of an Artifact');
  return readAnswer(answer, before);
}

function readAnswer({ artifacts }: CalledTask, before: StateContent): TurnOutcome {
  const holder = artifacts.findLast(({ parts }) => parts.some(isData));
  const last = holder?.parts.findLast(isData)?.data;
  if (last === undefined) return failTurn("no state: the agent's Artifacts hold no data Part");
  const report = answerReport(holder?.metadata);
  try {
    return { kind: 'state', state: readState(last, before), report };
  } catch (error) {
    if (!(error instanceof InvalidState)) throw error;
    return { kind: 'rejected', error: `invalid state: ${error.message}`, report };
  }
}

function isData({ data }: Part): boolean {
  return data !== undefined;
}

function failTurn(error: string): TurnOutcome {
  return { kind: 'failed', error };
}

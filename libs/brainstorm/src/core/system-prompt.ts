import type { BrainstormRole } from './role.js';
import { EXAMPLE_STATE, STATE_SCHEMA } from './state-schema.js';

/** First prompt of every agent, unless the brainstorm has its own. */
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

/** Form of the answer, which a caller's prompt does not replace. */
const SHAPE_PROMPT = [
  'Answer with the whole changed state as one JSON object and nothing else. `meta` may be left out: it is ignored.',
  `The object must be valid against this JSON Schema: ${JSON.stringify(STATE_SCHEMA)}`,
  `This is an example of the form alone; nothing in it belongs to your idea: ${JSON.stringify(EXAMPLE_STATE)}`,
].join('\n');

/** Parts of an agent's prompt. */
export interface PromptParts {
  /** Text of the caller, which replaces the default. */
  base: string | undefined;
  role: BrainstormRole;
  skillWords: readonly string[];
  /** Faults of the agent's last answer in this pass. */
  faults?: string | undefined;
}

/**
 * Returns the complete prompt of an agent: the base, its role, its skills, the form of the answer, and the faults of
 * its previous answer. Agents add nothing to it.
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

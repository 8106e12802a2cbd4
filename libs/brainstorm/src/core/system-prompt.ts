import type { Role } from './role.js';

/** What every agent is told first, unless the brainstorm brings its own words. */
export const BASE_PROMPT = [
  'You are one of several agents who develop an idea together by changing one shared state, one after the other.',
  'You receive the state as JSON. Answer with the whole state, changed as your role asks, in the same form.',
  'Keep what others said unless you improve on it. State your confidence in the whole as a number from 0 to 1.',
].join(' ');

const ROLE_PROMPTS: Record<Role, string> = {
  build:
    'Your role is to build: describe an architecture and a plan of concrete steps for the idea, and what they assume.',
  review:
    'Your role is to review: name the risks of architecture and plan with their severity, and ask what is still open.',
  refine:
    'Your role is to refine: resolve risks by changing architecture or plan, answer open questions, and sharpen steps.',
  devils_advocate:
    "Your role is to be the devil's advocate: challenge what all others take for granted, and say how it could fail.",
};

/**
 * Everything that an agent is told: the base, its role, and the words of its skills. Agents assemble nothing
 * themselves.
 */
export function systemPrompt(base: string | undefined, role: Role, skillWords: readonly string[]): string {
  const parts = [base ?? BASE_PROMPT, ROLE_PROMPTS[role], ...skillWords];
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n');
}

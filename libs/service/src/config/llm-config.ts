import { z } from 'zod';
import type { LlmDefaults } from './app-config.js';
import { parseDuration } from './quantities.js';

const MOST_STOPS = 4;
const LONGEST_STOP = 100;
/** Maximum of `LLM_WAIT` in milliseconds: one hour. */
const LONGEST_WAIT_MS = 3_600_000;

/** Rules of the variables that set defaults for the models of the operator's endpoint. */
export const LLM_VARIABLES = {
  LLM_TEMPERATURE: numberUpTo(2).optional(),
  LLM_TOP_P: numberUpTo(1).optional(),
  LLM_STOP: z
    .string()
    .transform((list) => list.split(',').map((text) => text.trim()))
    .refine(
      (texts) => texts.length <= MOST_STOPS && texts.every((text) => text !== '' && text.length <= LONGEST_STOP),
      `must be a list of at most ${MOST_STOPS} texts, separated by commas, of 1 to ${LONGEST_STOP} characters`,
    )
    .optional(),
  LLM_MAX_TOKENS: z
    .string()
    .regex(/^[1-9]\d{0,5}$|^1000000$/, 'must be a whole number from 1 to 1000000')
    .transform(Number)
    .optional(),
  LLM_WAIT: z
    .string()
    .transform((text) => parseDuration(text) ?? -1)
    .refine((ms) => ms >= 1_000 && ms <= LONGEST_WAIT_MS, 'must be a duration from 1s to 1h, such as 10m')
    .optional(),
  LLM_TOOL_CALLS: z.enum(['native', 'schema'], 'must be native or schema').optional(),
};

function numberUpTo(most: number) {
  return z
    .string()
    .refine((text) => /^\d(\.\d{1,10})?$/.test(text) && Number(text) <= most, `must be a number from 0 to ${most}`)
    .transform(Number);
}

interface LlmValues {
  LLM_TEMPERATURE?: number | undefined;
  LLM_TOP_P?: number | undefined;
  LLM_STOP?: string[] | undefined;
  LLM_MAX_TOKENS?: number | undefined;
  LLM_WAIT?: number | undefined;
  LLM_TOOL_CALLS?: 'native' | 'schema' | undefined;
}

/** Returns the defaults for the models of the operator's endpoint; `undefined` if no variable sets one. */
export function llmDefaultsOf({
  LLM_TEMPERATURE: temperature,
  LLM_TOP_P: topP,
  LLM_STOP: stop,
  LLM_MAX_TOKENS: maxTokens,
  LLM_WAIT: waitMs,
  LLM_TOOL_CALLS: toolCalls,
}: LlmValues): LlmDefaults | undefined {
  const defaults = {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop !== undefined && { stop }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(waitMs !== undefined && { waitSeconds: Math.ceil(waitMs / 1_000) }),
    ...(toolCalls !== undefined && { toolCalls }),
  };
  return Object.keys(defaults).length > 0 ? defaults : undefined;
}

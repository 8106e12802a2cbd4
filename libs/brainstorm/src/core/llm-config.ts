import type { JsonObject, JsonValue } from '#libs/protocol';

/** Model of an agent and its settings, without secrets. */
export interface LlmSettings {
  provider?: string;
  model?: string;
  temperature?: number;
  max_tokens?: number;
}

/** Ranges of the numeric model settings, both ends included. */
export const LLM_RANGES = { temperature: [0, 2], max_tokens: [1, 1_000_000] } as const;

/** Rules of the numeric model settings. Each text ends an error message that begins with the name of the setting. */
export const LLM_RULES = {
  temperature: `must be a number from ${LLM_RANGES.temperature.join(' to ')}`,
  max_tokens: `must be a whole number from ${LLM_RANGES.max_tokens.join(' to ')}`,
} as const;

/** Numeric model setting that breaks its rule. */
export interface LlmFault {
  member: keyof typeof LLM_RANGES;
  rule: string;
}

/** Returns the numeric model settings that break their rules. An absent setting breaks none. */
export function llmFaults({ temperature, max_tokens }: JsonObject): LlmFault[] {
  const isWrongLimit =
    max_tokens !== undefined && !(Number.isInteger(max_tokens) && isInRange('max_tokens', max_tokens));
  return [
    ...(temperature === undefined || isInRange('temperature', temperature) ? [] : [createFault('temperature')]),
    ...(isWrongLimit ? [createFault('max_tokens')] : []),
  ];
}

function isInRange(member: LlmFault['member'], value: JsonValue): boolean {
  const [least, most] = LLM_RANGES[member];
  return typeof value === 'number' && value >= least && value <= most;
}

function createFault(member: LlmFault['member']): LlmFault {
  return { member, rule: LLM_RULES[member] };
}

/** Model settings that an agent is sent. */
export type AgentLlmConfig = LlmSettings & { provider: string; model: string };

/**
 * Returns the model settings that an agent is sent. For each field the first of these settings that has a value counts:
 * `override` (settings of the whole brainstorm), `agent` (its own), `global` (the service's).
 */
export function llmSettings(override: LlmSettings, agent: LlmSettings, global: LlmSettings): AgentLlmConfig {
  const given = [global, agent, override].map(withoutGaps);
  return Object.assign({ provider: 'parley', model: 'echo' }, ...given) as AgentLlmConfig;
}

/**
 * Returns the model settings for the request to an agent. Drops other members, which brainstorms stored by earlier
 * versions may have.
 */
export function sentConfig({ provider, model, temperature, max_tokens }: AgentLlmConfig): JsonObject {
  return { ...withoutGaps({ provider, model, temperature, max_tokens }) };
}

function withoutGaps(settings: LlmSettings): LlmSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== null));
}

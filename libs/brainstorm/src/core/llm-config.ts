import type { JsonObject } from '#libs/protocol';

/** Which model an agent shall use, and how. Never holds a secret. */
export interface LlmSettings {
  provider?: string;
  model?: string;
  temperature?: number;
  max_tokens?: number;
}

/** Settings of its model that an agent is sent. */
export type AgentLlmConfig = LlmSettings & { provider: string; model: string };

/** Returns the settings that an agent is sent. Each field is the first that is given: the brainstorm's, the agent's, the service's. */
export function llmSettings(override: LlmSettings, agent: LlmSettings, global: LlmSettings): AgentLlmConfig {
  const given = [global, agent, override].map(withoutGaps);
  return Object.assign({ provider: 'parley', model: 'echo' }, ...given) as AgentLlmConfig;
}

/** Returns what goes out of the settings: those of stored brainstorms may have members that mean nothing any more. */
export function sentConfig({ provider, model, temperature, max_tokens }: AgentLlmConfig): JsonObject {
  return { ...withoutGaps({ provider, model, temperature, max_tokens }) };
}

function withoutGaps(settings: LlmSettings): LlmSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== null));
}

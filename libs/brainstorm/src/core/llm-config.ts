import type { JsonObject } from '#libs/protocol';

/** Which model an agent shall use, and how. Never holds a secret. */
export interface LlmSettings {
  provider?: string;
  model?: string;
  /** The name of an environment variable of this service; its value is never sent. */
  credential_ref?: string;
  temperature?: number;
  max_tokens?: number;
}

/** What an agent is told of its model: everything but the name of the credential. */
export type AgentLlmConfig = Omit<LlmSettings, 'credential_ref'> & { provider: string; model: string };

/** What of the settings an agent is told. Each field is the first that is given: the brainstorm's, the agent's, the service's. */
export function llmSettings(
  override: LlmSettings,
  agent: LlmSettings,
  global: LlmSettings,
): LlmSettings & AgentLlmConfig {
  const given = [global, agent, override].map(withoutGaps);
  return Object.assign({ provider: 'parley', model: 'echo' }, ...given) as LlmSettings & AgentLlmConfig;
}

/** The part of the settings that goes out. */
export function sentConfig(settings: LlmSettings & AgentLlmConfig): JsonObject {
  const { credential_ref: _credential, ...config } = settings;
  return { ...config };
}

function withoutGaps(settings: LlmSettings): LlmSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== null));
}

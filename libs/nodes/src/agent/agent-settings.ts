import type { NodeSpec } from '#libs/executor';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { type AgentToolConfig, agentToolConfigs, isAgentEntry } from './agent-tool-config.js';

/** Options for a tool call that was interrupted, so that its outcome is unknown. */
export const UNCERTAIN = ['ask', 'fail', 'repeat'] as const;
/** Options for an agent's memory. */
export const HISTORIES = ['context', 'none'] as const;

export const DEFAULT_STEPS = 10;
export const DEFAULT_HISTORY_TOKENS = 32_000;

/** Settings from the config of an `agent` node. */
export interface AgentNodeSettings {
  /** Models to ask, in order. `undefined` stands for the service's default model. */
  models: readonly [string | undefined, ...string[]];
  systemPrompt?: string;
  temperature?: number;
  /** Maximum tokens of one answer. */
  maxTokens?: number;
  /** Names of built-in tools, or `server/glob`. */
  tools: readonly string[];
  /** Agents that are tools. */
  agents: readonly AgentToolConfig[];
  /** Maximum model calls in one Task, without those that correct an answer. */
  maxSteps: number;
  /** JSON Schema of the answer, which is then data. */
  output?: JsonObject;
  history: (typeof HISTORIES)[number];
  /** Maximum tokens of remembered texts. */
  historyTokens: number;
  /** Tools, as in `tools`, whose calls need approval by a person. */
  approve: readonly string[];
  onUncertain: (typeof UNCERTAIN)[number];
  /** Number of used tokens after which no model is called. */
  budget?: number;
}

/** Reads a config, which may have been saved under other rules. Invalid members count as absent. */
export function agentSettings({ config }: Pick<NodeSpec, 'config'>): AgentNodeSettings {
  const { system_prompt: systemPrompt, temperature, maxTokens, maxSteps, output, historyTokens, budget } = config;
  const [model, ...fallbacks] = [textIn(config.model), ...textsIn(config.fallbacks)];
  const tokens = isJsonObject(budget) ? budget.tokens : undefined;
  return {
    models: [model, ...fallbacks.filter((it) => it !== undefined)],
    ...(typeof systemPrompt === 'string' && systemPrompt !== '' && { systemPrompt }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof maxTokens === 'number' && { maxTokens }),
    tools: textsIn(config.tools).filter((it) => !isAgentEntry(it)),
    agents: agentToolConfigs(config.tools),
    maxSteps: typeof maxSteps === 'number' ? maxSteps : DEFAULT_STEPS,
    ...(isJsonObject(output) && { output }),
    history: oneOf(HISTORIES, config.history),
    historyTokens: typeof historyTokens === 'number' ? historyTokens : DEFAULT_HISTORY_TOKENS,
    approve: textsIn(config.approve),
    onUncertain: oneOf(UNCERTAIN, config.onUncertain),
    ...(typeof tokens === 'number' && { budget: tokens }),
  };
}

function textIn(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function textsIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((it): it is string => typeof it === 'string' && it !== '') : [];
}

function oneOf<T extends string>(words: readonly [T, ...T[]], value: JsonValue | undefined): T {
  return words.find((word) => word === value) ?? words[0];
}

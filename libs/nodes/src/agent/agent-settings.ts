import type { NodeSpec } from '#libs/executor';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { type AgentToolConfig, agentToolConfigs, isAgentEntry } from './agent-tool-config.js';

/** What is done about a tool's call of which nobody knows whether it was made. */
export const UNCERTAIN = ['ask', 'fail', 'repeat'] as const;
/** What an agent knows of what was said before. */
export const HISTORIES = ['context', 'none'] as const;

export const DEFAULT_STEPS = 10;
export const DEFAULT_HISTORY_TOKENS = 32_000;

/** What the config of an `agent` node says. */
export interface AgentSettings {
  /** The models to ask, the first of them first; absent names stand for the service's own. */
  models: readonly [string | undefined, ...string[]];
  systemPrompt?: string;
  temperature?: number;
  /** Tokens of one answer. */
  maxTokens?: number;
  /** Built-in tools by name, others as `server/glob`. */
  tools: readonly string[];
  /** Tools that are agents. */
  agents: readonly AgentToolConfig[];
  /** Calls of a model in one Task, without the one that mends an answer. */
  maxSteps: number;
  /** The JSON Schema of the answer, which is data then. */
  output?: JsonObject;
  history: (typeof HISTORIES)[number];
  /** Tokens of what was said before. */
  historyTokens: number;
  /** Tools, as in `tools`, that somebody is asked about before each call. */
  approve: readonly string[];
  onUncertain: (typeof UNCERTAIN)[number];
  /** Tokens after which no model is called any more. */
  budget?: number;
}

/** Reads a config that may have been saved when other rules held: what is none is as if it were not there. */
export function agentSettings({ config }: Pick<NodeSpec, 'config'>): AgentSettings {
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

import type { NodeSpec } from '#libs/agents';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { type AgentToolConfig, agentToolConfigs, isAgentEntry } from './agent-tool-config.js';

/** Values of `onUncertain`: how to continue after a tool call that was interrupted, so that its outcome is unknown. */
export const UNCERTAIN = ['ask', 'fail', 'repeat'] as const;
/** Values of `history`: `context` gives the model the earlier turns of the same context, `none` gives it none. */
export const HISTORIES = ['context', 'none'] as const;

export const DEFAULT_STEPS = 10;
export const DEFAULT_HISTORY_TOKENS = 32_000;

/** Settings of an `agent` node, read from its config. */
export interface AgentNodeSettings {
  /**
   * Models to call, in order: if a model fails, the next model is called. `undefined` stands for the default model of
   * the service.
   */
  models: readonly [string | undefined, ...string[]];
  systemPrompt?: string;
  temperature?: number;
  /** Total probability of the tokens from which the model samples; absent: the default of the provider. */
  topP?: number;
  /** Texts before which an answer ends; absent: none. */
  stop?: readonly string[];
  /** Maximum number of tokens of one answer; absent: the default of the provider. */
  maxTokens?: number;
  /** Built-in tools by name, tools of MCP servers as `server/glob`. */
  tools: readonly string[];
  /** Agents that the model may call as tools. */
  agents: readonly AgentToolConfig[];
  /** Maximum number of model calls in one Task, without those that correct an answer. */
  maxSteps: number;
  /** JSON Schema of the answer, which then is a data Part. If absent, the answer is text. */
  output?: JsonObject;
  history: (typeof HISTORIES)[number];
  /** Approximate maximum number of tokens of remembered texts. */
  historyTokens: number;
  /** Tools, named as in `tools`, whose calls a person must approve. */
  approve: readonly string[];
  onUncertain: (typeof UNCERTAIN)[number];
  /** Maximum number of used tokens (`AgentLog.tokens`) before no further model is called; absent: no limit. */
  budget?: number;
}

/**
 * Reads the config of an `agent` node, which may have been saved under older rules. Invalid members count as absent.
 */
export function agentSettings({ config }: Pick<NodeSpec, 'config'>): AgentNodeSettings {
  const { system_prompt: systemPrompt, temperature, topP, maxTokens, maxSteps, output, historyTokens, budget } = config;
  const stop = textsIn(config.stop);
  const [model, ...fallbacks] = [textIn(config.model), ...textsIn(config.fallbacks)];
  const tokens = isJsonObject(budget) ? budget.tokens : undefined;
  return {
    models: [model, ...fallbacks.filter((it) => it !== undefined)],
    ...(typeof systemPrompt === 'string' && systemPrompt !== '' && { systemPrompt }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { topP }),
    ...(stop.length > 0 && { stop }),
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

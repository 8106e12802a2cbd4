import { isJsonObject, type JsonObject, textStart } from '#libs/protocol';
import { noteOf, type RecordedEvent } from './task-event.js';

/**
 * Number of tokens that a model call used. `cached` and `cache_write` are parts of `input`, and `reasoning` is a part of
 * `output`. The names are also those of the metric `parley_usage_tokens_total`.
 */
interface CallTokens {
  input: number;
  output: number;
  cached: number;
  cache_write: number;
  reasoning: number;
  /** Cost in US dollars, as a decimal number; absent if it is unknown. */
  cost?: string;
}

/** Call of a model that an event of a Task reports. */
export interface ReportedModelCall {
  /** Name of the called model. */
  model: string;
  /** Number of tokens; absent if it is unknown. */
  tokens?: CallTokens;
}

/** Maximum length of a model's name in sums of usage, in characters. Longer names are truncated. */
const LONGEST_NAME = 200;
const MOST_TOKENS = 1_000_000_000;
const COST = /^\d{1,20}(\.\d{1,12})?$/;

/**
 * Returns the calls of models that events report: each answer (`model.response`), and each failed call whose tokens are
 * known (`model.error`). Calls of the built-in model, which uses no tokens, are omitted.
 * @returns `undefined` if there are none
 */
export function modelCallsIn(events: readonly RecordedEvent[]): ReportedModelCall[] | undefined {
  let calls: ReportedModelCall[] | undefined;
  for (const { event } of events) {
    const { type, payload, node_id: node } = noteOf(event) ?? {};
    // The log of a run repeats the events of its nodes, with the node.
    if (node !== undefined || (type !== 'model.response' && type !== 'model.error')) continue;
    const call = callIn(payload);
    if (call === undefined || (type === 'model.error' && !call.tokens)) continue;
    (calls ??= []).push(call);
  }
  return calls;
}

function callIn(payload: JsonObject | undefined): ReportedModelCall | undefined {
  const { model, usage } = payload ?? {};
  if (typeof model !== 'string') return undefined;
  const name = textStart(model.replaceAll('\u0000', ''), LONGEST_NAME).toWellFormed();
  const tokens = isJsonObject(usage) ? tokensIn(usage) : undefined;
  if (tokens?.input === 0 && tokens.output === 0) return undefined;
  return { model: name, ...(tokens && { tokens }) };
}

function tokensIn({
  inputTokens,
  outputTokens,
  cachedInputTokens,
  cacheWriteInputTokens,
  reasoningTokens,
  cost,
}: JsonObject): CallTokens | undefined {
  const [input, output] = [countIn(inputTokens), countIn(outputTokens)];
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    cached: countIn(cachedInputTokens) ?? 0,
    cache_write: countIn(cacheWriteInputTokens) ?? 0,
    reasoning: countIn(reasoningTokens) ?? 0,
    ...(typeof cost === 'string' && COST.test(cost) && { cost }),
  };
}

function countIn(value: unknown): number | undefined {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS;
  return isCount ? (value as number) : undefined;
}

/**
 * Returns the name of the workflow in an agent path such as `workflows/translate/nodes/summary`. For the path of any
 * other agent, returns the whole path.
 */
export function workflowIn(agent: string): string {
  const [first, workflow] = agent.split('/');
  return first === 'workflows' && workflow !== undefined ? workflow : agent;
}

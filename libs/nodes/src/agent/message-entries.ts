import {
  BRAINSTORM_ENTRY,
  type BrainstormEntries,
  type BrainstormEntry,
  type ConversationEntry,
  type SaidText,
} from '#libs/executor';
import type { ModelUsage, StructuredAnswer } from '#libs/models';
import {
  contentLength,
  dataPart,
  firstData,
  isJsonObject,
  type JsonObject,
  type Message,
  type Part,
  textPart,
} from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import type { AgentLog } from './agent-log.js';

/** Request of a brainstorm of this service to a model. */
export interface BrainstormRequest {
  systemPrompt: string;
  /** State of the brainstorm; the rest of the payload is for agents without an entry. */
  parts: Part[];
  entry: BrainstormEntry;
}

/**
 * Returns the request of a brainstorm in a Message; `undefined` if this service signed no entry for it, or one for
 * another agent.
 */
export function brainstormRequest(
  message: Message,
  { agent, ...scope }: TaskScope & { agent: string },
  entries: Pick<BrainstormEntries, 'readEntry'> | undefined,
): BrainstormRequest | undefined {
  const entry = entries?.readEntry(message, scope);
  const data = firstData(message.parts);
  if (entry?.agent !== agent || !isJsonObject(data)) return undefined;
  const { systemPrompt, state } = data;
  if (typeof systemPrompt !== 'string' || state === undefined) return undefined;
  return { systemPrompt, parts: [dataPart(state)], entry };
}

/** Source of an answer's report, before its last step is recorded. */
interface AnswerSource {
  log: Pick<AgentLog, 'mended' | 'usage'>;
  structure: StructuredAnswer | undefined;
}

/** Returns Artifact metadata that reports the corrections and token usage of an answer to the brainstorm. */
export function answerReport({ log, structure }: AnswerSource, last?: ModelUsage): JsonObject {
  const { inputTokens, outputTokens } = log.usage;
  const usage = {
    inputTokens: inputTokens + (last?.inputTokens ?? 0),
    outputTokens: outputTokens + (last?.outputTokens ?? 0),
  };
  return { [BRAINSTORM_ENTRY]: { repairs: structure?.faultsOf(log.mended) ?? [], usage } };
}

/** Approximate number of characters in a token. */
export const TOKEN = 4;

/** Text of a conversation for a model: the agent's own as `assistant`, all others as `user`. */
export interface SaidMessage {
  role: 'user' | 'assistant';
  parts: Part[];
}

/** Returns the texts of a Message's entry, oldest first: the newest ones that fit in `tokens`. */
export function saidMessages(entry: ConversationEntry | undefined, tokens = Infinity): SaidMessage[] {
  const messages = (entry?.said ?? []).map(saidMessage);
  let room = tokens * TOKEN;
  const first = messages.findLastIndex(({ parts }) => (room -= contentLength(parts)) < 0);
  return messages.slice(first + 1);
}

/** Returns the approximate number of tokens of Messages. */
export function tokensOf(messages: readonly SaidMessage[]): number {
  return Math.ceil(messages.reduce((sum, { parts }) => sum + contentLength(parts), 0) / TOKEN);
}

function saidMessage({ by, agent, text }: SaidText): SaidMessage {
  const parts = [textPart(agent === undefined ? text : `${JSON.stringify(agent)} said:\n${text}`)];
  return { role: by === 'self' ? 'assistant' : 'user', parts };
}

import { BRAINSTORM_ENTRY, type BrainstormEntries, type BrainstormEntry } from '#libs/executor';
import type { ModelUsage, StructuredAnswer } from '#libs/models';
import { dataPart, firstData, isJsonObject, type JsonObject, type Message, type Part } from '#libs/protocol';
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

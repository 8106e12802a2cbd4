import { BRAINSTORM_ENTRY, type BrainstormEntries, type BrainstormEntry } from '#libs/executor';
import type { ModelUsage, StructuredAnswer } from '#libs/models';
import { dataPart, firstData, isJsonObject, type JsonObject, type Message, type Part } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import type { AgentLog } from './agent-log.js';

/** What a brainstorm of this service asks of a model. */
export interface BrainstormRequest {
  systemPrompt: string;
  /** The state alone: the rest of the payload is for agents that no entry comes to. */
  parts: Part[];
  entry: BrainstormEntry;
}

/**
 * Returns what a brainstorm asks an agent with a Message; `undefined` for a Message that this service signed no entry for,
 * or one for another agent.
 */
export function brainstormRequest(
  message: Message,
  { agent, ...scope }: TaskScope & { agent: string },
  entries: Pick<BrainstormEntries, 'read'> | undefined,
): BrainstormRequest | undefined {
  const entry = entries?.read(message, scope);
  const data = firstData(message.parts);
  if (entry?.agent !== agent || !isJsonObject(data)) return undefined;
  const { systemPrompt, state } = data;
  if (typeof systemPrompt !== 'string' || state === undefined) return undefined;
  return { systemPrompt, parts: [dataPart(state)], entry };
}

/** What an answer comes out of, before its last step is recorded. */
interface AnswerSource {
  log: Pick<AgentLog, 'mended' | 'usage'>;
  structure: StructuredAnswer | undefined;
}

/** Returns the metadata of an answer's Artifact by which the brainstorm learns what was mended and used for it. */
export function answerReport({ log, structure }: AnswerSource, last?: ModelUsage): JsonObject {
  const { inputTokens, outputTokens } = log.usage;
  const usage = {
    inputTokens: inputTokens + (last?.inputTokens ?? 0),
    outputTokens: outputTokens + (last?.outputTokens ?? 0),
  };
  return { [BRAINSTORM_ENTRY]: { repairs: structure?.faultsOf(log.mended) ?? [], usage } };
}

import type { ConversationEntry } from '#libs/agents';
import type { ModelError, ModelMessage } from '#libs/models';
import { type AgentLog, type SaidMessage, saidMessages } from './agent-log.js';
import type { Remembered } from './agent-memory.js';
import type { AgentNodeSettings } from './agent-settings.js';

/** Sources of the messages before a Task: the memory of the agent, and the conversation that called it. */
export interface EarlierSources {
  settings: Pick<AgentNodeSettings, 'history' | 'historyTokens' | 'maxTokens' | 'budget'>;
  /**
   * Conversation entries (data that a conversation of this service sends with a Message) of the current Message, and of
   * the Message that began the Task; each is absent if the Message has none.
   */
  entries: { current?: ConversationEntry; opening?: ConversationEntry };
  log: Pick<AgentLog, 'tokens'>;
  /** Reads the remembered Messages of earlier Tasks. They are read once; repeated calls return the same Messages. */
  recallEarlier(): Promise<Remembered>;
}

/** Messages before a Task, as a model gets them. */
export interface EarlierMessages {
  /** Messages of earlier Tasks, then texts of the conversation, oldest first. */
  readonly messages: readonly ModelMessage[];
  /** Number of texts of the conversation among `messages`. */
  readonly saidCount: number;
}

/**
 * Returns texts of the conversation that this agent neither received nor sent: the newest texts that fit in
 * `historyTokens`.
 */
export function saidBefore({ settings, entries }: Pick<EarlierSources, 'settings' | 'entries'>): SaidMessage[] {
  return settings.history === 'none' ? [] : saidMessages(entries.opening, settings.historyTokens);
}

/** Returns the messages before the Task, without the `omitted` oldest ones. */
export async function readEarlierMessages(sources: EarlierSources, omitted: number): Promise<EarlierMessages> {
  const said = saidBefore(sources);
  const messages = [...(await sources.recallEarlier()).messages, ...said].slice(omitted);
  return { messages, saidCount: Math.min(said.length, messages.length) };
}

/**
 * Returns the number of oldest messages to omit in the next call, after a call for which the context of the model had
 * no room. Each time, half of the messages that are left are omitted, up to the next message with the role `user`.
 * Returns `undefined` if no further message can be omitted, or if the failure has another cause.
 * @param omitted number of messages that the failed call omitted
 */
export async function planOmission(
  sources: EarlierSources,
  failure: ModelError,
  omitted: number,
): Promise<number | undefined> {
  if (!failure.isOverflow && !(omitted === 0 && isCutByContext(sources, failure))) return undefined;
  const { messages } = await readEarlierMessages(sources, 0);
  const left = messages.length - omitted;
  if (left <= 0) return undefined;
  const half = omitted + Math.ceil(left / 2);
  const next = messages.findIndex(({ role }, at) => at >= half && role === 'user');
  return next < 0 ? messages.length : next;
}

/**
 * True if an answer was truncated because the conversation takes most of the context, and not because of a token
 * limit.
 * False if the budget of the node permits no further call.
 */
function isCutByContext({ settings, log }: EarlierSources, failure: ModelError): boolean {
  const { isTruncated, usage, tokenLimit = Infinity } = failure;
  if (!isTruncated || usage === undefined) return false;
  const { inputTokens, outputTokens } = usage;
  const { maxTokens = tokenLimit, budget = Infinity } = settings;
  return outputTokens < maxTokens && inputTokens > outputTokens && log.tokens + inputTokens + outputTokens < budget;
}

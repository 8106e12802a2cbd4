import type { ConversationEntry, SaidText } from '#libs/executor';
import { contentLength, type Part, textPart } from '#libs/protocol';

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

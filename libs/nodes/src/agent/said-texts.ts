import type { ConversationEntry, SaidText } from '#libs/executor';
import { contentLength, type Part, textPart } from '#libs/protocol';

/** About so many characters are a token. */
export const TOKEN = 4;

/** A text of a conversation as a model is told it: the agent's own as its answer, every other one as a user's. */
export interface SaidMessage {
  role: 'user' | 'assistant';
  parts: Part[];
}

/** Returns what the entry of a Message says was said, oldest first: the newest texts that fit in so many tokens. */
export function saidMessages(entry: ConversationEntry | undefined, tokens = Infinity): SaidMessage[] {
  const messages = (entry?.said ?? []).map(saidMessage);
  let room = tokens * TOKEN;
  const first = messages.findLastIndex(({ parts }) => (room -= contentLength(parts)) < 0);
  return messages.slice(first + 1);
}

/** Returns about how many tokens Messages are. */
export function tokensOf(messages: readonly SaidMessage[]): number {
  return Math.ceil(messages.reduce((sum, { parts }) => sum + contentLength(parts), 0) / TOKEN);
}

function saidMessage({ by, agent, text }: SaidText): SaidMessage {
  const parts = [textPart(agent === undefined ? text : `${JSON.stringify(agent)} said:\n${text}`)];
  return { role: by === 'self' ? 'assistant' : 'user', parts };
}

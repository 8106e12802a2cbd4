export interface AskingAgentOptions {
  version: '1.0' | '0.3';
  binding: 'JSONRPC' | 'HTTP+JSON';
  streaming: boolean;
  /** True if the agent answers a follow-up with update events alone, as agents for older versions do. */
  updatesAlone?: boolean;
  /** Called when the agent begins to work until its Task is canceled. */
  onWait?: () => void;
  /** Promise that the agent awaits before it sends the second piece of its text. */
  between?: Promise<unknown>;
}

/** Action of an asking agent in one turn: a question, its text in two pieces, or work until its Task is canceled. */
export type AskingTurn = { question: string } | { pieces: [string, string] } | { wait: true };

/**
 * Returns the action of an asking agent, by the texts of all Messages so far. It asks two questions and then sends its
 * text. To the text `wait` it works until it is canceled; to `tell` it sends its text at once.
 */
export function askingTurn(told: readonly string[]): AskingTurn {
  if (told[0] === 'wait') return { wait: true };
  if (told[0] === 'tell') return { pieces: ['one ', 'two'] };
  if (told.length === 1) return { question: 'Name?' };
  if (told.length === 2) return { question: 'Colour?' };
  return { pieces: [`${told[1]} likes `, `${told[2]}`] };
}

export type ServedAgent = AskingAgentOptions & { url: string };

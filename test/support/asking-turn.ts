export interface AskingAgentOptions {
  version: '1.0' | '0.3';
  binding: 'JSONRPC' | 'HTTP+JSON';
  streaming: boolean;
  /** True if it answers a follow-up with updates alone, as agents written for older versions do. */
  updatesAlone?: boolean;
  /** Told when it works until it is canceled. */
  onWait?: () => void;
  /** What has to happen before the second piece of its text is said. */
  between?: Promise<unknown>;
}

/** What an asking agent does in one of its turns: two questions, then its text in two pieces. */
export type AskingTurn = { question: string } | { pieces: [string, string] } | { wait: true };

/** The turn of an asking agent, by all that it was told. To `wait` it works until it is canceled; to `tell` it asks nothing. */
export function askingTurn(told: readonly string[]): AskingTurn {
  if (told[0] === 'wait') return { wait: true };
  if (told[0] === 'tell') return { pieces: ['one ', 'two'] };
  if (told.length === 1) return { question: 'Name?' };
  if (told.length === 2) return { question: 'Colour?' };
  return { pieces: [`${told[1]} likes `, `${told[2]}`] };
}

export type ServedAgent = AskingAgentOptions & { url: string };

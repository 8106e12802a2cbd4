import { HttpAgent } from '@ag-ui/client';
import { HttpAgent as EarlyHttpAgent } from 'ag-ui-client-v0';
import type { JsonObject, JsonValue } from '#libs/protocol';

/** Released clients of AG-UI, before and since 1.0. */
export const CLIENTS = [
  ['1.0.0', HttpAgent],
  ['0.0.59', EarlyHttpAgent as unknown as typeof HttpAgent],
] as const;

/** Event of AG-UI, as a client received it. */
export type AguiEvent = JsonObject & { type: string };

export interface TalkOptions {
  threadId?: string;
  headers?: Record<string, string>;
  /** Function that makes the client's requests; default: the global `fetch`. */
  fetch?: typeof fetch;
}

/** Conversation of an official client with one endpoint. */
export class AguiTalk {
  /** Events of all runs, in the order of their arrival. */
  readonly events: AguiEvent[] = [];
  readonly agent: HttpAgent;

  constructor(Client: typeof HttpAgent, url: string, options: TalkOptions = {}) {
    const { threadId, fetch, headers = {} } = options;
    this.agent = new Client({ url, headers, ...(threadId !== undefined && { threadId }), ...(fetch && { fetch }) });
    this.agent.subscribe({
      onEvent: ({ event }) => void this.events.push(structuredClone(event) as unknown as AguiEvent),
    });
  }

  /** Sends a user message, if any, and runs the agent to the end of the run. Returns the events of this run. */
  async run(text?: string, options: { runId?: string; resume?: JsonValue; forwardedProps?: JsonObject } = {}) {
    if (text !== undefined) this.agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text });
    const first = this.events.length;
    await this.agent.runAgent(options as never);
    return this.events.slice(first);
  }

  /** State of the client after its runs: what a page shows. */
  get shown(): JsonObject {
    const { messages, state } = this.agent;
    return structuredClone({ messages, state }) as unknown as JsonObject;
  }

  /** Texts of the assistant, in order. */
  get texts(): string[] {
    return this.agent.messages.flatMap(({ role, content }) =>
      role === 'assistant' && typeof content === 'string' ? [content] : [],
    );
  }
}

/** Types of events, in order; text in pieces counts once. */
export function typesOf(events: readonly AguiEvent[]): string[] {
  return events
    .map(({ type }) => type)
    .filter((type, index, all) => type !== 'TEXT_MESSAGE_CONTENT' || all[index - 1] !== type);
}

/** Returns the interrupts with which a run has ended; none if it has ended otherwise. */
export function interruptsOf(events: readonly AguiEvent[]): JsonObject[] {
  const outcome = events.at(-1)?.['outcome'] as JsonObject | undefined;
  return (outcome?.['interrupts'] ?? []) as JsonObject[];
}

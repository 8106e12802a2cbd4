import type { JsonObject } from '#libs/protocol';
import { type SseFrame, SseReader } from './sse.js';
import { SAFETY_NET_MS, until } from './until.js';
import type { Api, ApiReply } from './workflow.js';

/** Event of the stream `a2a`, as received. */
export interface A2aFrame {
  runId: string;
  seq: number;
  ts: number;
  sessionKey: string;
  stream: string;
  cseq: number;
  outcome?: string;
  data: JsonObject & { conversationId: string; fromAgent: string; toAgent: string; phase: string };
}

export interface Conversation {
  conversationId: string;
  requester: string;
  target: string;
  status: string;
  outcome?: string;
  paused?: boolean;
  maxTurns: number;
  timeoutMs: number;
  turns: { turn: number; fromAgent: string; toAgent: string; text: string; ts: number }[];
  error?: { turn: number; code: string; message: string; retryable: boolean };
  announcement?: string;
  createdAt: string;
}

/** API of the conversations of one service. */
export class Talks {
  constructor(readonly api: Api) {}

  post(body: unknown, headers: Record<string, string> = {}): Promise<ApiReply<JsonObject>> {
    return this.api.call('POST', '/conversations', body, headers);
  }

  /** Starts a conversation and returns its id; throws if it is refused. */
  async start(body: JsonObject, headers: Record<string, string> = {}): Promise<string> {
    const reply = await this.post(body, headers);
    if (reply.status !== 202) throw new Error(`Not started: ${reply.status} ${reply.text}`);
    return reply.body['conversationId'] as string;
  }

  async get(id: string): Promise<Conversation> {
    const reply = await this.api.call<Conversation>('GET', `/conversations/${id}`);
    if (reply.status !== 200) throw new Error(`Conversation ${id}: ${reply.status} ${reply.text}`);
    return reply.body;
  }

  events(id: string, lastEventId?: string | number): Promise<SseReader<A2aFrame>> {
    const { url, headers } = this.api;
    return SseReader.open<A2aFrame>(`${url}/api/conversations/${id}/events`, { headers, lastEventId });
  }

  /** Runs a conversation to its end, and returns all its events. */
  async play(body: JsonObject, within = SAFETY_NET_MS): Promise<A2aFrame[]> {
    const reader = await this.events(await this.start(body));
    return (await reader.all({ within })).map(({ data }) => data);
  }

  command(id: string, name: string, body?: JsonObject): Promise<ApiReply<JsonObject>> {
    return this.api.call('POST', `/conversations/${id}/${name}`, body);
  }

  reached(id: string, fits: (it: Conversation) => boolean, within = SAFETY_NET_MS): Promise<Conversation> {
    return until(
      async () => {
        const it = await this.get(id);
        return fits(it) && it;
      },
      { within, what: `conversation ${id} to get there` },
    );
  }

  ended(id: string, within = SAFETY_NET_MS): Promise<Conversation> {
    return this.reached(id, ({ status }) => status === 'complete', within);
  }
}

/**
 * Returns an event as a short text such as `0 hello`, `error 1 TIMEOUT` or `complete done`, for comparisons of whole
 * sequences.
 */
export function outline({ data, outcome }: A2aFrame): string {
  if (data.phase === 'turn') return `${String(data['turn'])} ${String(data['text'])}`;
  return data.phase === 'error' ? `error ${String(data['turn'])} ${String(data['code'])}` : `complete ${outcome}`;
}

export function outlines(frames: readonly SseFrame<A2aFrame>[]): string[] {
  return frames.map(({ data }) => outline(data));
}

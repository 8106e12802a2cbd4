import type { CanonicalState } from '#libs/brainstorm';
import type { JsonObject, JsonValue } from '#libs/protocol';
import type { FakeAgent, FakeCall } from './fake-agent.js';
import { answersParts, type FakeBehaviour } from './fake-behaviour.js';
import { type SseFrame, SseReader } from './sse.js';
import { SAFETY_NET_MS, until } from './until.js';
import type { Api, ApiReply } from './workflow.js';

export interface Payload {
  role: string;
  systemPrompt: string;
  llmConfig: JsonObject;
  state: CanonicalState;
}

interface Source {
  agent: string;
  role: string;
  iteration: number;
}

export interface Brainstorm {
  brainstormId: string;
  status: string;
  iteration: number;
  agents: { agent: string; name: string; role: string; provider: string; model: string; skills: string[] }[];
  state: CanonicalState;
  provenance: Record<string, Source>;
  passes: {
    iteration: number;
    agents: { agent: string; role: string; status: string; error?: string }[];
    confidence?: number;
  }[];
  convergence?: string;
  error?: { agent?: string; message: string };
}

export interface BrainstormEvent {
  type: string;
  brainstormId: string;
  sequence: number;
  timestamp: string;
  payload: JsonObject;
}

/** Step of a plan with enough words to be kept by a brainstorm. */
export const STEP = { title: 'Begin', description: 'one two three four five six seven eight nine ten words' };

/** Change of the state after which a brainstorm has nothing left to do. */
export const AGREED: Partial<CanonicalState> = { execution_plan: [STEP], metrics: { confidence: 0.9 } };

/** Returns the payload that a fake agent was sent. */
export function payloadOf(call: FakeCall | undefined): Payload {
  return call?.message?.parts[0]?.data as unknown as Payload;
}

/** Creates the behavior of a fake agent that returns the brainstorm's state with a change. */
export function transforms(
  change: Partial<CanonicalState> | ((state: CanonicalState, index: number) => Partial<CanonicalState>) = AGREED,
): (call: FakeCall, index: number) => FakeBehaviour {
  return (call, index) => {
    const { state } = payloadOf(call);
    const changed = typeof change === 'function' ? change(state, index) : change;
    return answersParts({ data: { ...state, ...changed } as unknown as JsonValue });
  };
}

/** API of the brainstorms of one service. */
export class BrainstormApi {
  constructor(private readonly api: Api) {}

  post(body: unknown, headers: Record<string, string> = {}): Promise<ApiReply<{ brainstormId: string }>> {
    return this.api.call('POST', '/brainstorms', body, headers);
  }

  /** Starts a brainstorm; throws if it is refused. */
  async start(agents: (FakeAgent | JsonObject)[], fields: JsonObject = {}): Promise<string> {
    const listed = agents.map((it) => ('url' in it && typeof it.url === 'string' ? { agent: it.url } : it));
    const reply = await this.post({ idea: 'an idea', agents: listed, ...fields });
    if (reply.status !== 202) throw new Error(`Starting failed: ${reply.status} ${reply.text}`);
    return reply.body.brainstormId;
  }

  async get(id: string): Promise<Brainstorm> {
    const reply = await this.api.call<Brainstorm>('GET', `/brainstorms/${id}`);
    if (reply.status !== 200) throw new Error(`Brainstorm ${id}: ${reply.status} ${reply.text}`);
    return reply.body;
  }

  /** Waits until a brainstorm is no longer active. */
  rested(id: string, within = SAFETY_NET_MS): Promise<Brainstorm> {
    return this.reached(id, (it) => it.status !== 'active', within);
  }

  reached(id: string, fits: (brainstorm: Brainstorm) => boolean, within = SAFETY_NET_MS): Promise<Brainstorm> {
    return until(
      async () => {
        const brainstorm = await this.get(id);
        return fits(brainstorm) && brainstorm;
      },
      { within, what: `brainstorm ${id}` },
    );
  }

  /** Starts a brainstorm, and waits until it is no longer active. */
  async finish(agents: (FakeAgent | JsonObject)[], fields: JsonObject = {}): Promise<Brainstorm> {
    return this.rested(await this.start(agents, fields));
  }

  async act(id: string, action: 'iterate' | 'approve' | 'cancel'): Promise<ApiReply<{ status: string }>> {
    return this.api.call('POST', `/brainstorms/${id}/${action}`);
  }

  events(id: string, lastEventId?: string | number): Promise<SseReader<BrainstormEvent>> {
    const { url, headers } = this.api;
    return SseReader.open<BrainstormEvent>(`${url}/api/brainstorms/${id}/events`, { headers, lastEventId });
  }

  async log(id: string): Promise<SseFrame<BrainstormEvent>[]> {
    return (await this.events(id)).all();
  }
}

import { outlines, Talks } from '../support/conversation.js';
import { answers } from '../support/fake-behaviour.js';
import { GatewayClient, type GatewayFrame } from '../support/gateway-client.js';
import { type Parley, startParley } from '../support/parley.js';
import { range } from '../support/sse.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api } from '../support/workflow.js';

const CONVERSATIONS = 44;
const MAX_TURNS = 20;
/** Turn 0, turn 1, the loop and the end (row A9). */
const EVENTS = MAX_TURNS + 3;

const stage = useStage();
let second: Parley;
const clients: GatewayClient[] = [];

beforeAll(async () => {
  second = await startParley({ databaseUrl: stage.database.url });
});

afterAll(async () => {
  for (const client of clients) await client.cut();
  await second?.stop();
});

async function watch(url: string, query: Record<string, string> = {}): Promise<GatewayClient> {
  const client = await GatewayClient.open(url, { streams: 'a2a', ...query });
  clients.push(client);
  return client;
}

interface Envelope extends GatewayFrame {
  cseq: number;
  data: { conversationId: string; phase: string; turn?: number; text?: string; fromAgent: string };
}

/** Each conversation's frames in the order in which they came. */
function threads(frames: readonly GatewayFrame[]): Map<string, Envelope[]> {
  const found = new Map<string, Envelope[]>();
  for (const frame of frames as readonly Envelope[]) {
    const { conversationId } = frame.data;
    found.set(conversationId, [...(found.get(conversationId) ?? []), frame]);
  }
  return found;
}

describe('1,000 events of conversations, whose readers are cut and come back to either replica', () => {
  it('L2 give identical transcripts to readers of the conversations', async () => {
    const echo = await stage.fake();
    echo.always((call) => answers(`${call.text}.`));
    const replicas = [new Talks(stage.api), new Talks(new Api(second.url))];
    const body = { requester: `${echo.url}/a2a`, target: echo.url, maxTurns: MAX_TURNS };
    const started = await Promise.all(
      range(1, CONVERSATIONS).map((n) => (replicas[n % 2] as Talks).start({ ...body, message: `m${n}` })),
    );
    const seen = await Promise.all(started.map((id, n) => withCuts(id, n, replicas)));
    for (const [n, frames] of seen.entries()) {
      expect(frames).toEqual([
        ...range(0, MAX_TURNS + 1).map((turn) => `${turn} m${n + 1}${'.'.repeat(turn)}`),
        'complete max_turns',
      ]);
    }
    expect(seen.flat().length).toBeGreaterThanOrEqual(1_000);
  });

  it('L1 L2 give identical transcripts to a client of the event gateway', async () => {
    const [a, b] = [await stage.fake({ name: 'c', streaming: true }), await stage.fake({ name: 'd', streaming: true })];
    a.always((call) => answers(`${(call.text ?? '').slice(0, 200)}a`));
    b.always((call) => answers(`${(call.text ?? '').slice(0, 200)}b`));
    const urls = [stage.parley.url, second.url];
    const first = await watch(urls[0]!);
    const talks = new Talks(stage.api);
    const ids = await Promise.all(
      range(1, CONVERSATIONS).map((n) =>
        talks.start({ requester: a.url, target: b.url, message: `${n}:`, maxTurns: MAX_TURNS }),
      ),
    );
    const frames: GatewayFrame[] = [];
    let { cursor } = first.frames[0]!;
    for (let cuts = 0; cuts < 20; cuts += 1) {
      const client = await watch(urls[Math.floor(Math.random() * 2)]!, { since: cursor });
      const hasAll = (): boolean => frames.length + client.events.length >= CONVERSATIONS * EVENTS;
      await until(() => client.events.length >= 20 || hasAll(), { what: 'some frames' });
      await client.cut();
      frames.push(...client.events);
      cursor = client.cursor;
    }
    const last = await watch(urls[1]!, { since: cursor });
    await until(() => frames.length + last.events.length >= CONVERSATIONS * EVENTS, {
      what: 'every frame',
    });
    const seen = threads([...frames, ...last.events]);
    expect([...seen.keys()].sort()).toEqual(ids.sort());
    for (const id of ids) {
      const thread = seen.get(id)!;
      expect(thread.map(({ cseq }) => cseq)).toEqual(range(1, EVENTS));
      expect(thread.at(-1)!.data.phase).toBe('complete');
      const { turns } = await talks.get(id);
      const told = thread.slice(0, -1).map(({ data }) => ({ turn: data.turn, text: data.text, from: data.fromAgent }));
      expect(told).toEqual(turns.map(({ turn, text, fromAgent }) => ({ turn, text, from: fromAgent })));
    }
    await until(() => first.events.length === CONVERSATIONS * EVENTS, { what: 'the client that stayed' });
  });
});

/** Reads a conversation, dropping the connection after every few events and going on at the other replica. */
async function withCuts(id: string, seed: number, replicas: readonly Talks[]): Promise<string[]> {
  const seen: string[] = [];
  for (let cut = 0; ; cut += 1) {
    const reader = await (replicas[(seed + cut) % replicas.length] as Talks).events(id, seen.length);
    for (let read = 0; read < 4 + (seed % 3); read += 1) {
      const frame = await reader.next();
      if (frame === undefined) return seen;
      expect(Number(frame.id)).toBe(seen.length + 1);
      seen.push(...outlines([frame]));
    }
    reader.abort();
  }
}

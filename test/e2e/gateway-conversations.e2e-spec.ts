import { Talks } from '../support/conversation.js';
import { answers } from '../support/fake-behaviour.js';
import { GatewayClient, type GatewayFrame } from '../support/gateway-client.js';
import { type Parley, startParley } from '../support/parley.js';
import { range } from '../support/sse.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';

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

const without = (frames: readonly GatewayFrame[]): unknown[] => frames.map(({ cursor: _cursor, ...rest }) => rest);

describe('conversations in the event gateway', () => {
  it('A18 every client gets every a2a frame, and a filter keeps to one conversation', async () => {
    const [a, b] = [await stage.fake({ name: 'a', streaming: true }), await stage.fake({ name: 'b', streaming: true })];
    a.always((_call, index) => answers(`A${index + 1}`));
    b.always((_call, index) => answers(`B${index + 1}`));
    const [here, there] = [await watch(stage.parley.url), await watch(second.url)];
    const talks = new Talks(stage.api);
    const since = here.frames[0]!.cursor;
    const ids = [];
    for (const message of ['one', 'two']) {
      ids.push(await talks.start({ requester: a.url, target: b.url, message, maxTurns: 1 }));
    }
    await until(() => here.events.length === 8 && there.events.length === 8, { what: 'all frames' });
    expect(without(here.events)).toEqual(without(there.events));
    expect(here.events.map((it) => Object.keys(it).sort())[0]).toEqual(
      ['cseq', 'cursor', 'data', 'runId', 'seq', 'sessionKey', 'stream', 'ts'].sort(),
    );
    const one = await watch(second.url, { conversationId: ids[0]!, since });
    await until(() => one.events.length === 4, { what: 'the frames of one conversation' });
    expect([...threads(one.events).keys()]).toEqual([ids[0]]);
  });

  it('L1 L2 1,000 events, the client cut 20 times and back at random replicas: the transcripts are identical', async () => {
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

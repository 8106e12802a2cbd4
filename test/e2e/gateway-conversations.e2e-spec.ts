import { Talks } from '../support/conversation.js';
import { answers } from '../support/fake-behaviour.js';
import { GatewayClient, type GatewayFrame } from '../support/gateway-client.js';
import { type Parley, startParley } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';

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
    const shown = one.events.map(({ data }) => (data as { conversationId: string }).conversationId);
    expect([...new Set(shown)]).toEqual([ids[0]]);
  });
});

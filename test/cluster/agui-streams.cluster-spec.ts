import { resumingFetch } from '../../examples/agui/resuming-fetch.js';
import type { JsonObject } from '#libs/protocol';
import { AguiTalk, CLIENTS, interruptsOf } from '../support/agui.js';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { ReplicaCluster } from '../support/replica-cluster.js';
import type { SeededRandom } from '../support/seeded-random.js';
import { range } from '../support/sse.js';
import { testRandom } from '../support/test-random.js';
import { Api, echo, input, output, script, unique, type WorkflowNode } from '../support/workflow.js';

const CUTS = 20;
/** Numbers of the cuts that kill the replica which served the stream. */
const KILLS = [4, 9, 14, 19];
/** Nodes after the questions, and before them: more events than are read between the cuts, however the choices fall. */
const STEPS = 30;

let database: TestDatabase;
let llm: FakeLlm;
let cluster: ReplicaCluster;
const workflow = unique('agui');

/** Returns a call of the calculator, then a text in pieces that quotes its result. */
function calculating(body: JsonObject): FakeAnswer {
  const last = (body.messages as unknown as { role: string; content: string }[]).at(-1);
  if (last?.role === 'tool') return { text: ['It ', 'is ', String(last.content)] };
  return { toolCalls: [{ id: 'c1', name: 'calculator', args: { expression: '6 * 7' } }] };
}

/** Returns nodes that run one after the other, each for a moment. */
function chain(prefix: string): WorkflowNode[] {
  return range(1, STEPS).map((n) =>
    script(`${prefix}${n}`, { status: 'working' }, { sleep: 30 }, { complete: 'done' }),
  );
}

beforeAll(async () => {
  database = await freshDatabase();
  llm = await FakeLlm.start();
  llm.answer = calculating;
  const env = { LLM_BASE_URL: llm.url, LLM_MODEL: 'house' };
  cluster = await ReplicaCluster.start(database, { replicas: 2, env });
  const asks = [
    { id: 'left', type: 'human', config: { prompt: 'Left?' } },
    { id: 'right', type: 'human', config: { prompt: 'Right?' } },
  ];
  const [before, after] = [chain('b'), chain('a')];
  const line = [input('topic'), echo('agent', { prompt: 'What is {{topic}}?', tools: ['calculator'] }), ...before];
  const end = [...after, output('out', { prompt: '{{agent}} {{left}} {{right}}' })];
  const edgesOf = (nodes: WorkflowNode[]) =>
    nodes.slice(1).map(({ id }, index) => ({ from: nodes[index]!.id, to: id }));
  await new Api(cluster.balancer.url).save({
    name: workflow,
    nodes: [...line, ...asks, ...end],
    edges: [
      ...edgesOf(line),
      ...asks.flatMap(({ id }) => [
        { from: line.at(-1)!.id, to: id },
        { from: id, to: end[0]!.id },
      ]),
      ...edgesOf(end),
    ],
  });
});

afterAll(async () => {
  await cluster?.stop();
  await llm?.stop();
  await database?.drop();
});

/** Connection whose streams are cut after a few frames, at replicas by chance; some cuts kill the replica. */
class CutConnection {
  cuts = 0;

  constructor(private readonly random: SeededRandom) {}

  readonly fetch: typeof fetch = async (url, init) => {
    const replica = this.random.pick(cluster.replicas);
    const { pathname } = new URL(String(url));
    const response = await fetch(`${replica.url}${pathname}`, init);
    if (!response.ok || this.cuts >= CUTS || !response.body) return response;
    const most = this.random.between(2, 8);
    const cut = async (): Promise<void> => {
      this.cuts += 1;
      if (!KILLS.includes(this.cuts)) return;
      await cluster.kill(replica);
      await cluster.add();
    };
    return new Response(ReadableStream.from(beginningOf(response.body, most, cut)), { headers: response.headers });
  };
}

/** Yields the first frames of a stream, and half of the next one; then calls `cut`, and fails. */
async function* beginningOf(
  body: ReadableStream<Uint8Array>,
  most: number,
  cut: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let [rest, left] = ['', most];
  for await (const text of body.pipeThrough(new TextDecoderStream() as never) as unknown as AsyncIterable<string>) {
    const frames = (rest + text).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      left -= 1;
      if (left >= 0) yield encoder.encode(`${frame}\n\n`);
      else {
        yield encoder.encode(frame.slice(0, frame.length / 2));
        await cut();
        throw new Error('The connection was cut');
      }
    }
  }
}

/** Runs the workflow to its end, with answers to both questions. Returns what the client shows. */
async function talk(agent: AguiTalk): Promise<JsonObject> {
  agent.agent.addMessage({ id: 'u1', role: 'user', content: '6 * 7' });
  const asked = interruptsOf(await agent.run(undefined, { runId: 'r1' }));
  expect(asked.map(({ message }) => message).toSorted()).toEqual(['Left?', 'Right?']);
  const resume = asked.map(({ id, message }) => ({
    interruptId: id!,
    status: 'resolved',
    payload: `to ${String(message)}`,
  }));
  await agent.run(undefined, { runId: 'r2', resume });
  return agent.shown;
}

describe.each(CLIENTS)('the official client %s', (version, Client) => {
  it(`has after ${CUTS} cuts and ${KILLS.length} kills the state that no cut gives`, async () => {
    const connection = new CutConnection(testRandom(`agui ${version}`));
    const threadId = unique('thread');
    const url = `${cluster.balancer.url}/agui/workflows/${workflow}`;
    const cut = new AguiTalk(Client, url, { threadId, fetch: resumingFetch({ fetch: connection.fetch, waitMs: 100 }) });
    const shown = await talk(cut);
    expect(connection.cuts).toBe(CUTS);
    expect(cut.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(cut.texts.at(-1)).toBe('It is 42 to Left? to Right?');
    expect(cut.agent.messages.map(({ role }) => role)).toContain('tool');

    const whole = new AguiTalk(Client, url, { threadId });
    expect(await talk(whole)).toEqual(shown);
    expect(cut.events).toEqual(whole.events);
    const runs = await database.query('SELECT 1 FROM task WHERE context_id = $1 AND agent = $2', [
      threadId,
      `workflows/${workflow}`,
    ]);
    expect(runs).toHaveLength(1);
  }, 180_000);
});

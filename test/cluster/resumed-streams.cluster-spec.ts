import type { JsonObject } from '#libs/protocol';
import { sendTask, subscribe } from '../support/a2a.js';
import { useCluster } from '../support/cluster-stage.js';
import { type SeededRandom } from '../support/seeded-random.js';
import { testRandom } from '../support/test-random.js';
import { range, type SseFrame, type SseReader } from '../support/sse.js';
import { logProblems, type StoredLog, storedLog } from '../support/stored-log.js';
import { Api, linear, script, unique } from '../support/workflow.js';

const stage = useCluster({ replicas: 3 });

const CUTS = 20;
/** Number of chunks that exceeds those read between the cuts, for any random choices. */
const CHUNKS = 160;

interface Seen {
  frames: SseFrame[];
  cuts: number;
}

/** Reads a stream to its end at random replicas, and drops the connection after 1 to 8 frames each time. */
async function readInPieces(
  random: SeededRandom,
  open: (at: Api, lastEventId: string) => Promise<SseReader>,
): Promise<Seen> {
  const seen: Seen = { frames: [], cuts: 0 };
  for (;;) {
    const at = random.pick([new Api(stage.cluster.balancer.url), stage.at(0), stage.at(1), stage.at(2)]);
    const cursor = seen.frames.at(-1)?.id ?? '0';
    const reader = await open(at, cursor);
    let left = seen.cuts < CUTS ? random.between(1, 8) : Infinity;
    while (left > 0) {
      const frame = await reader.next();
      if (frame === undefined) return seen;
      // A Task's stream begins with the Task as it stood at the cursor: nothing new.
      if (frame.id === cursor) continue;
      seen.frames.push(frame);
      left -= 1;
    }
    seen.cuts += 1;
    if (at.url === stage.cluster.balancer.url) stage.cluster.balancer.cut();
    reader.abort();
  }
}

function expectWhole({ frames, cuts }: Seen, log: StoredLog): void {
  expect(cuts).toBe(CUTS);
  expect(logProblems(log)).toEqual([]);
  expect(frames.map(({ id }) => Number(id))).toEqual(range(1, log.lastSequence));
}

describe(`a reader whose connection is cut at ${CUTS} points by chance, and who goes on at replicas by chance`, () => {
  const chunks = range(1, CHUNKS).flatMap((n): JsonObject[] => [
    { artifact: { artifactId: 'out', parts: [{ text: `${n} ` }], ...(n > 1 && { append: true }) } },
    ...(n % 5 === 0 ? [{ sleep: 60 }] : []),
  ]);
  const talkative = () => script('s', { status: 'working' }, ...chunks, { complete: 'done' });

  it('sees every event of a Task once, in order, as the database has it', async () => {
    const random = testRandom('resumed task stream');
    const name = unique('chunks');
    await stage.api.save(linear(name, talkative()));
    const { id } = await sendTask(stage.at(0).base(name, 's'), 'go', { configuration: { returnImmediately: true } });
    const seen = await readInPieces(random, (at, cursor) => subscribe(at.base(name, 's'), id, cursor));
    const log = await storedLog(stage.database.query, id);
    expectWhole(seen, log);
    const told = seen.frames.map(({ data }) => (data as { result: unknown }).result);
    expect(told).toEqual(log.events.map(({ json }) => JSON.parse(json)));
  });

  it('sees every event of a run once, in order', async () => {
    const random = testRandom('resumed run stream');
    const name = unique('pieces');
    // Four events a node: more than are read between the cuts, however the choices fall.
    const nodes = range(1, 42).map((n) => script(`n${n}`, { status: 'working' }, { sleep: 40 }, { complete: 'done' }));
    await stage.api.save(linear(name, ...nodes));
    const runId = await stage.at(1).start(name);
    const seen = await readInPieces(random, (at, cursor) => at.events(runId, cursor));
    expectWhole(seen, await storedLog(stage.database.query, runId));
    expect(seen.frames.at(-1)?.event).toBe('done');
  });
});

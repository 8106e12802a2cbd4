import type { JsonObject } from '#libs/protocol';
import { getTask, outline, send, sendTask, stream } from '../support/a2a.js';
import { useCluster } from '../support/cluster-stage.js';
import { ids, range } from '../support/sse.js';
import { logProblems, storedLog } from '../support/stored-log.js';
import { refusedWrites } from '../support/service-metrics.js';
import { before, until } from '../support/until.js';
import { linear, script, unique } from '../support/workflow.js';

const stage = useCluster({ replicas: 2 });

describe('an owner that stands still for longer than its claim', () => {
  it('SIGSTOP, another takes over, SIGCONT: late writes are refused, nothing is doubled, the process is healthy', async () => {
    const name = unique('frozen');
    const steps: JsonObject[] = [
      { status: 'working' },
      { sleep: 10_000 },
      { artifact: { parts: [{ text: 'worked' }] } },
    ];
    await stage.api.save(linear(name, script('s', ...steps, { complete: 'done' })));
    const [frozen, other] = [stage.replica(0), stage.replica(1)];
    const base = stage.at(0).base(name, 's');
    const reader = await stream(base, 'streamed');
    const blocked = sendTask(base, 'blocking');
    const first = await reader.find(({ data }) => outline(data.result) === 'status TASK_STATE_WORKING');
    expect(first.id).toBe('2');
    const [streamed, blocking] = await until(async () => {
      const rows = await stage.database.query<{ id: string; text: string }>(
        `SELECT task_id AS id FROM task WHERE last_sequence = 2 ORDER BY created_at`,
      );
      return rows.length === 2 && rows.map(({ id }) => id);
    });
    frozen.freeze();
    try {
      for (const id of [streamed!, blocking!]) {
        const ended = async () => (await getTask(stage.at(1).base(name, 's'), id)).status.state;
        await until(async () => (await ended()) === 'TASK_STATE_COMPLETED', {
          what: `the other replica to finish ${id}`,
        });
      }
      expect(await refusedWrites(other)).toBe(0);
    } finally {
      frozen.thaw();
    }
    await until(async () => (await refusedWrites(frozen)) === 2, { what: 'both late writes to be refused' });
    const frames = await reader.all();
    const log = await storedLog(stage.database.query, streamed!);
    expect(ids(frames)).toEqual(range(1, frames.length));
    expect(frames.slice(1).map(({ data }) => data.result)).toEqual(
      log.events.slice(1).map(({ json }) => JSON.parse(json)),
    );
    const told = await before(blocked, { what: 'the answer to the blocked caller' });
    expect(told).toEqual(await getTask(stage.at(1).base(name, 's'), told.id));
    for (const id of [streamed!, blocking!]) {
      const stored = await storedLog(stage.database.query, id);
      expect({ problems: logProblems(stored), events: stored.lastSequence }).toEqual({ problems: [], events: 4 });
    }
    await until(async () => (await fetch(`${frozen.url}/health/ready`)).ok, { what: 'it to be ready again' });
    const again = await send(base, 'after');
    expect(again).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(await refusedWrites(frozen)).toBe(2);
  });
});

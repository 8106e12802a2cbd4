import type { JsonObject } from '#libs/protocol';
import { getTask, outline, sendTask, stream } from '../support/a2a.js';
import { useCluster } from '../support/cluster-stage.js';
import { DatabaseLink } from '../support/database-link.js';
import { type Parley, startParley } from '../support/parley.js';
import { refusedWrites } from '../support/service-metrics.js';
import { ids, range } from '../support/sse.js';
import { logProblems, storedLog } from '../support/stored-log.js';
import { before, until } from '../support/until.js';
import { Api, linear, script, unique } from '../support/workflow.js';

const stage = useCluster({ replicas: 1 });

describe('an owner that is cut off from the database', () => {
  let link: DatabaseLink;
  let lonely: Parley;

  beforeAll(async () => {
    link = await DatabaseLink.to(stage.database.url);
    lonely = await startParley({ databaseUrl: link.url });
  });

  afterAll(async () => {
    link?.mend();
    await lonely?.stop();
    await link?.stop();
  });

  it('loses its claims within seconds; what it writes afterwards is refused, and its readers see the log alone', async () => {
    const name = unique('cut');
    const steps: JsonObject[] = [
      { status: 'working' },
      { sleep: 6_000 },
      { artifact: { parts: [{ text: 'worked' }] } },
    ];
    await stage.api.save(linear(name, script('s', ...steps, { complete: 'done' })));
    const base = new Api(lonely.url).base(name, 's');
    const blocked = sendTask(base, 'blocking');
    const reader = await stream(base, 'streamed');
    await reader.find(({ data }) => outline(data.result) === 'status TASK_STATE_WORKING');
    const tasks = await until(async () => {
      const rows = await stage.database.query<{ id: string }>('SELECT task_id AS id FROM task WHERE last_sequence = 2');
      return rows.length === 2 && rows.map(({ id }) => id);
    });
    link.cut();
    // Both replicas do the same work now: the lonely one's logs would be exactly as long as the adopter's.
    for (const id of tasks) {
      const state = async () => (await getTask(stage.at(0).base(name, 's'), id)).status.state;
      await until(async () => (await state()) === 'TASK_STATE_COMPLETED', {
        what: `the other replica to finish ${id}`,
      });
    }
    expect((await fetch(`${lonely.url}/health/ready`)).status).toBe(503);
    link.mend();
    await until(async () => (await refusedWrites(lonely)) === 2, { what: 'its writes to be refused' });
    const told = await before(blocked, { what: 'the answer to the blocked caller' });
    expect(told).toEqual(await getTask(stage.at(0).base(name, 's'), told.id));
    const streamed = tasks.find((id) => id !== told.id)!;
    const log = await storedLog(stage.database.query, streamed);
    const frames = await reader.all();
    expect(ids(frames)).toEqual(range(1, frames.length));
    expect(frames.slice(1).map(({ data }) => data.result)).toEqual(
      log.events.slice(1).map(({ json }) => JSON.parse(json)),
    );
    for (const id of tasks) {
      const stored = await storedLog(stage.database.query, id);
      expect({ problems: logProblems(stored), events: stored.lastSequence }).toEqual({ problems: [], events: 4 });
    }
    await until(async () => (await fetch(`${lonely.url}/health/ready`)).ok, { what: 'it to be ready again' });
    expect((await sendTask(base, 'after')).status.state).toBe('TASK_STATE_COMPLETED');
  });
});

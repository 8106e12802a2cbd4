import type { JsonObject, JsonValue } from '#libs/protocol';
import { AGREED, BrainstormApi, payloadOf, STEP, transforms } from '../support/brainstorm.js';
import { type FakeStep, holds } from '../support/fake-behaviour.js';
import { asEarlierVersion } from '../support/earlier-log.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { ids, range } from '../support/sse.js';
import { useStage } from '../support/stage.js';
import { before, until } from '../support/until.js';
import { Api, linear, script, unique } from '../support/workflow.js';

const stage = useStage();
/** A state after which nothing is left to do, as an agent may answer it. */
const AGREEMENT = {
  ...{ idea: 'an idea', architecture: '', risks: [], assumptions: [], open_questions: [] },
  ...(AGREED as unknown as JsonObject),
};

let doomed: Parley;
let there: BrainstormApi;
let here: BrainstormApi;

beforeEach(async () => {
  doomed = await startParley({ databaseUrl: stage.database.url });
  there = new BrainstormApi(new Api(doomed.url));
  here = new BrainstormApi(stage.api);
});

afterEach(() => doomed?.kill9());

describe('rows J: a brainstorm survives kill -9 of its replica', () => {
  it('J12 another goes on in the middle of the pass: nobody who has answered is asked again, the cut call is repeated as it was', async () => {
    const [a, b, c] = [await stage.fake(), await stage.fake(), await stage.fake()];
    a.always(transforms({ execution_plan: [STEP], assumptions: ['of a'], metrics: { confidence: 0.9 } }));
    b.next({ hang: true }).always(transforms((state) => ({ assumptions: [...state.assumptions, 'of b'] })));
    c.always(transforms({}));
    const id = await there.start([a, b, c], { maxIterations: 1 });
    await b.sent();
    await doomed.kill9();
    const ended = await here.rested(id);
    expect(ended).toMatchObject({ status: 'converged', iteration: 1, state: { assumptions: ['of a', 'of b'] } });
    expect([a, b, c].map(({ sends }) => sends.length)).toEqual([1, 2, 1]);
    const [first, second] = b.sends;
    expect(second?.message?.messageId).toBe(first?.message?.messageId);
    expect(payloadOf(second)).toEqual(payloadOf(first));
    const frames = await here.log(id);
    expect(ids(frames)).toEqual(range(1, frames.length));
  });

  it("an agent's Task that is known is followed, not made again; a reader comes back elsewhere without a gap", async () => {
    const [a, b] = [await stage.fake({ streaming: true }), await stage.fake({ streaming: true })];
    a.always(transforms());
    b.always((call) => {
      const data = { ...payloadOf(call).state, architecture: 'kept' } as unknown as JsonValue;
      const ending: FakeStep[] = [{ artifact: { parts: [{ data }] } }, { status: 'TASK_STATE_COMPLETED' }];
      return { steps: [{ status: 'TASK_STATE_WORKING' }, { hold: true }, ...ending] };
    });
    const id = await there.start([a, b], { maxIterations: 1 });
    const reader = await there.events(id);
    await reader.find(({ event, data }) => event === 'agent.phase' && data.payload['position'] === 1);
    await doomed.kill9();
    await before(
      reader.all().catch(() => undefined),
      { what: 'the stream to break' },
    );
    const rest = await here.events(id, reader.frames.at(-1)?.id);
    await until(() => b.calls.some(({ method }) => method === 'SubscribeToTask' || method === 'GetTask'), {
      what: 'another to take over',
    });
    b.release();
    const frames = [...reader.frames, ...(await rest.all())];
    expect(ids(frames)).toEqual(range(1, frames.length));
    expect(frames.at(-1)?.event).toBe('brainstorm.converged');
    expect([a, b].map(({ sends }) => sends.length)).toEqual([1, 1]);
    expect((await here.get(id)).state.architecture).toBe('kept');
  });

  it('the Task of an own agent that no event names yet is found again: it is not called twice', async () => {
    const database = await freshDatabase();
    stage.defer(() => database.drop());
    const first = await startParley({ databaseUrl: database.url });
    stage.defer(() => first.kill9().catch(() => undefined));
    const [workflow, node] = [unique('own'), unique('node')];
    const api = new Api(first.url);
    const says: JsonObject[] = [{ artifact: { parts: [{ data: AGREEMENT }] } }, { complete: 'done' }];
    await api.save(linear(workflow, script(node, { status: 'working' }, { sleep: 6_000 }, ...says)));
    const other = await stage.fake();
    other.always(transforms());
    const agents = [{ agent: `workflows/${workflow}/nodes/${node}` }, other];
    const id = await new BrainstormApi(api).start(agents, { maxIterations: 1 });
    const sighted = () => database.query('SELECT FROM task_event WHERE task_id = $1 AND sequence = 4', [id]);
    await until(async () => (await sighted()).length > 0, { what: 'the Task of the node to be named' });
    await first.kill9();
    await cutBefore(database, id, 'agent.phase');
    const second = await startParley({ databaseUrl: database.url });
    stage.defer(() => second.stop());
    expect((await new BrainstormApi(new Api(second.url)).rested(id)).status).toBe('converged');
    expect(await database.query('SELECT task_id FROM task WHERE parent_task_id = $1', [id])).toHaveLength(1);
  });

  it('J7 an approval and a cancel reach the replica that executes', async () => {
    const [a, b] = [await stage.fake({ streaming: true }), await stage.fake({ streaming: true })];
    a.always((call, index) => (index % 2 === 1 ? holds() : transforms({ metrics: { confidence: 0.6 } })(call, index)));
    b.always(transforms({}));
    for (const [action, status, sends] of [
      ['approve', 'approved', 2],
      ['cancel', 'canceled', 4],
    ] as const) {
      const id = await there.start([a, b]);
      await here.reached(id, ({ passes }) => passes[1]?.agents[0]?.status === 'running');
      await a.sent(sends);
      expect((await here.act(id, action)).body.status).toBe(status);
      expect((await there.get(id)).status).toBe(status);
    }
    await until(() => a.cancels.length === 2, { what: 'both Tasks to be canceled' });
  });
});

/** Leaves a log as it is where its process died before it could write a step and what follows. */
async function cutBefore(database: TestDatabase, taskId: string, step: string): Promise<void> {
  const [event] = await database.query<{ sequence: number }>(
    'SELECT min(sequence) AS sequence FROM task_event WHERE task_id = $1 AND payload::text LIKE $2',
    [taskId, `%${step}%`],
  );
  await asEarlierVersion(database.query, [taskId], event?.sequence);
  await database.query('UPDATE task SET last_sequence = $2::int - 1 WHERE task_id = $1', [taskId, event?.sequence]);
}

import { openDoor } from '../support/doors.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { answers, ends, type FakeBehaviour, holds } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { input, linear, output, type Run, unique } from '../support/workflow.js';

interface Slot {
  rule?: string;
  limit?: number;
  rate?: string;
  place: number;
}

type WaitingRun = Run & { waitsFor?: { instance?: string; slot?: Slot } };

const stage = useSharedStage();

/** Limits of the test under way, which would hold back the runs of other tests. */
const made: string[] = [];

afterEach(async () => {
  for (const name of made.splice(0)) await stage.api.call('DELETE', `/limits/${name}`);
});

async function limit(definition: object): Promise<string> {
  const name = unique('limit');
  const { status, text } = await stage.api.call('POST', '/limits', { name, ...definition });
  if (status !== 201) throw new Error(`${status} ${text}`);
  made.push(name);
  return name;
}

/** Saves a workflow whose runs ask a question, so that they are under way until they are answered. */
async function asking(): Promise<string> {
  const gate = { id: 'gate', type: 'human', config: { prompt: 'Go on?' } };
  return (await stage.api.save(linear(unique('held'), input('for'), gate))).name;
}

async function quick(): Promise<string> {
  return (await stage.api.save(linear(unique('paced'), input('for'), output('out')))).name;
}

const start = (workflow: string): Promise<string> => stage.api.start(workflow, { for: 'x' });
const begun = (runId: string) => stage.api.reached(runId, ['input-required']);

async function begin(workflow: string): Promise<string> {
  const runId = await start(workflow);
  await begun(runId);
  return runId;
}

async function atPlace(runId: string, place: number): Promise<Slot> {
  let last: WaitingRun['waitsFor'];
  const what = (): string => `run ${runId} to wait at place ${place}; it waits for ${JSON.stringify(last)}`;
  const look = async (): Promise<Slot | false> => {
    const slot = (last = ((await stage.api.run(runId)) as WaitingRun).waitsFor)?.slot;
    return slot?.place === place ? slot : false;
  };
  return until(look, { what });
}

async function answer(runId: string): Promise<void> {
  const reply = await stage.api.call('POST', `/runs/${runId}/answers`, { node: 'gate', parts: [{ text: 'yes' }] });
  expect([reply.status, reply.text]).toEqual([202, expect.anything()]);
}

describe('A limit of the service', () => {
  it('holds the runs of a workflow back, which say its name and their place', async () => {
    const workflow = await asking();
    const rule = await limit({ target: `workflows/${workflow}`, concurrency: 1 });
    const first = await begin(workflow);
    const [second, third] = [await start(workflow), await start(workflow)];
    expect(await atPlace(second, 1)).toMatchObject({ rule, limit: 1, place: 1 });
    await atPlace(third, 2);
    await answer(first);
    await begun(second);
    await atPlace(third, 1);
    for (const runId of [second, third]) {
      await begun(runId);
      await answer(runId);
      expect((await stage.api.ended(runId)).status).toBe('completed');
    }
  });

  it('lets waiting runs begin as soon as it is raised, and all of them once it is deleted', async () => {
    const workflow = await asking();
    const rule = await limit({ target: `workflows/${workflow}`, concurrency: 0 });
    const runIds = [await start(workflow), await start(workflow), await start(workflow)];
    await atPlace(runIds[2]!, 3);
    const raised = { target: `workflows/${workflow}`, concurrency: 1 };
    expect((await stage.api.call('PUT', `/limits/${rule}`, raised)).status).toBe(200);
    await begun(runIds[0]!);
    await atPlace(runIds[1]!, 1);
    expect((await stage.api.call('DELETE', `/limits/${rule}`)).status).toBe(204);
    for (const runId of runIds) {
      await begun(runId);
      await answer(runId);
    }
  });

  it('must be passed as well as the concurrency of the workflow', async () => {
    const gate = { id: 'gate', type: 'human', config: { prompt: 'Go on?' } };
    const definition = { ...linear(unique('both'), input('for'), gate), concurrency: { limit: 2 } };
    const { name } = await stage.api.save(definition);
    const rule = await limit({ target: `workflows/${name}`, concurrency: 1 });
    const first = await begin(name);
    const second = await start(name);
    expect(await atPlace(second, 1)).toMatchObject({ rule });
    const third = await start(name);
    const slot = await atPlace(third, 1);
    expect([slot.rule, slot.limit]).toEqual([undefined, 2]);
    await answer(first);
    await begun(second);
    await answer(second);
    await begun(third);
    await answer(third);
  });

  it('with a rate spaces the starts evenly, and never exceeds it', async () => {
    const workflow = await quick();
    await limit({ target: `workflows/${workflow}`, rate: { count: 4, period: '1s' } });
    const before = Date.now();
    const runIds = await Promise.all(Array.from({ length: 6 }, () => start(workflow)));
    const ended = await Promise.all(runIds.map((runId) => stage.api.ended(runId)));
    expect(ended.map(({ status }) => status)).toEqual(Array(6).fill('completed'));
    const starts = ended.map(({ nodes }) => Date.parse(nodes['for']!.startedAt!) - before).sort((a, b) => a - b);
    // A start may be recorded late, never early.
    const tooEarly = starts.filter((start, index) => start < index * 250 - 10);
    expect({ starts, tooEarly }).toEqual({ starts, tooEarly: [] });
  });

  it.each([
    [{ target: 'models/x', concurrency: 1 }, 'target'],
    [{ target: 'caller' }, 'concurrency'],
    [{ target: 'caller', concurrency: -1 }, 'concurrency'],
    [{ target: 'caller', per: 'target', concurrency: 1 }, 'per'],
    [{ target: 'workflows/*', per: 'tenant', concurrency: 1 }, 'per'],
    [{ target: 'workflows/*', rate: { count: 1, period: '1ms' } }, 'rate.period'],
    [{ target: 'workflows/*', rate: { count: 1_000, period: '1s' } }, 'rate.count'],
    [{ target: 'workflows/*', rate: { count: 1, period: '1s', more: 1 } }, 'rate.more'],
    [{ target: 'workflows/*', concurrency: 1, tokens: 1 }, 'tokens'],
  ])('is refused with the name of the member: %j', async (definition, path) => {
    const name = unique('limit');
    const { status, text } = await stage.api.call('POST', '/limits', { name, ...definition });
    expect([status, text]).toEqual([400, expect.stringContaining(`"${path}"`)]);
    expect((await stage.api.call('GET', `/limits/${name}`)).status).toBe(404);
  });
});

describe('A limit of a registered agent', () => {
  /** Registers an agent, and saves a workflow that calls it. */
  async function calling(behaviour: FakeBehaviour): Promise<{ agent: FakeAgent; name: string; workflow: string }> {
    const agent = await stage.fake();
    agent.always(() => behaviour);
    const { name } = await openDoor(stage.parley.url, agent.url);
    const call = { id: 'call', type: 'external', config: { agent: name } };
    const { name: workflow } = await stage.api.save(linear(unique('calls'), input('for'), call));
    return { agent, name, workflow };
  }

  it('holds its turns back, and the run says which node waits, for which limit, and its place', async () => {
    const { agent, name, workflow } = await calling(holds());
    const rule = await limit({ target: `agents/${name}`, concurrency: 1 });
    const first = await start(workflow);
    await agent.sent(1);
    const [second, third] = [await start(workflow), await start(workflow)];
    const slots = await Promise.all(
      [second, third].map((runId) =>
        until(
          async () => {
            const { waitsFor } = (await stage.api.run(runId)) as WaitingRun;
            return waitsFor?.slot ? waitsFor : false;
          },
          { what: `run ${runId} to wait` },
        ),
      ),
    );
    expect(slots.map(({ instance, slot }) => [instance, slot?.rule, slot?.limit])).toEqual([
      ['call', rule, 1],
      ['call', rule, 1],
    ]);
    expect(slots.map(({ slot }) => slot?.place).sort()).toEqual([1, 2]);
    expect(agent.sends).toHaveLength(1);
    for (let sent = 1; sent <= 3; sent += 1) {
      await agent.sent(sent);
      expect(agent.sends).toHaveLength(sent);
      agent.release();
    }
    for (const runId of [first, second, third]) expect((await stage.api.ended(runId)).status).toBe('completed');
  });

  it('counts no turn whose Task waits for an answer', async () => {
    const { agent, name, workflow } = await calling(ends('TASK_STATE_INPUT_REQUIRED', 'Which one?'));
    await limit({ target: `agents/${name}`, concurrency: 1 });
    const runIds = [await start(workflow), await start(workflow)];
    for (const runId of runIds) await begun(runId);
    agent.always(() => answers('done'));
    for (const runId of runIds) {
      const reply = await stage.api.call('POST', `/runs/${runId}/answers`, { node: 'call', parts: [{ text: 'this' }] });
      expect([reply.status, reply.text]).toEqual([202, expect.anything()]);
      expect((await stage.api.ended(runId)).status).toBe('completed');
    }
    const left = await stage.database.query('SELECT FROM run_slot JOIN task USING (task_id) WHERE agent = $1', [
      `agents/${name}`,
    ]);
    expect(left).toEqual([]);
  });

  it('sends no further Message before the time that the agent asks for with 429', async () => {
    const { agent, name, workflow } = await calling(answers('done'));
    await limit({ target: `agents/${name}`, concurrency: 10 });
    const times: number[] = [];
    agent.always(() => {
      times.push(Date.now());
      return times.length === 1 ? { httpStatus: 429, headers: { 'retry-after': '2' } } : answers('done');
    });
    const first = await start(workflow);
    await agent.sent(1);
    const closed = async (): Promise<boolean> =>
      (await stage.database.query('SELECT FROM flow_gate WHERE closed_until > now()')).length > 0;
    await until(closed, { what: 'the gate to be closed' });
    const runIds = [await start(workflow), await start(workflow)];
    for (const runId of [first, ...runIds]) expect((await stage.api.ended(runId)).status).toBe('completed');
    const waits = times.slice(1).map((time) => time - times[0]!);
    expect({ waits, tooEarly: waits.filter((wait) => wait < 1_990) }).toEqual({ waits, tooEarly: [] });
  });
});

import type { JsonObject, JsonValue } from '#libs/protocol';
import { getTask, rpc, sendParams, sendTask, subscribe } from '../support/a2a.js';
import { asleepThoughDue } from '../support/idle-claims.js';
import { metric } from '../support/service-metrics.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { type ApiReply, echo, step, unique, type Workflow, type WorkflowNode } from '../support/workflow.js';

/** A node with what the language adds to it. */
type Node = WorkflowNode & JsonObject;

interface Question extends JsonObject {
  runId: string;
  node: string;
}

const stage = useStage();
const HOUR_MS = 3_600_000;

const pause = (id: string, length: string): Node => ({ id, type: 'wait', config: { for: length } });
const human = (id: string, config: JsonObject = {}, more: JsonObject = {}): Node => ({
  id,
  type: 'human',
  config: { prompt: `${id}?`, ...config },
  ...more,
});

/** A node that asks, and reads nothing but text. */
const textOnly = (id: string): Node => ({
  id,
  type: 'script',
  config: {
    script: {
      agent: { inputModes: ['text/plain'] },
      rules: [{ when: { turn: 2 }, steps: [{ echo: true }, { complete: 'done' }] }],
      otherwise: [{ ask: `${id}?` }],
    },
  },
});

const DECISION = {
  form: {
    type: 'object',
    properties: { decision: { enum: ['yes', 'no'] }, pages: { type: 'integer', minimum: 1 } },
    required: ['decision'],
    additionalProperties: false,
  },
  assignee: 'editors',
};

function flow(nodes: Node[], ...edges: string[]): Workflow {
  const ends = edges.map((edge) => edge.split('>') as [string, string]);
  return { name: unique('parks'), nodes, edges: ends.map(([from, to]) => ({ from, to })) };
}

async function started(workflow: Workflow): Promise<string> {
  await stage.api.save(workflow);
  return stage.api.start(workflow.name);
}

/** Waits until no replica has the run. */
async function parked(runId: string): Promise<void> {
  const asleep = async (): Promise<boolean> => {
    const [row] = await stage.database.query(
      'SELECT FROM task WHERE task_id = $1 AND replica_id IS NULL AND wake_at IS NOT NULL',
      [runId],
    );
    return row !== undefined;
  };
  await until(asleep, { what: `run ${runId} to be parked` });
}

function answer(runId: string, node: string, parts: JsonValue): Promise<ApiReply<JsonObject>> {
  return stage.api.call('POST', `/runs/${runId}/answers`, { node, parts });
}

/** Waits until a run has asked again, because of what its node was answered. */
async function askedAgain(runId: string): Promise<void> {
  let asked = 0;
  await (await stage.api.events(runId)).find(({ event }) => event === 'input.required' && ++asked > 1);
  await stage.api.reached(runId, ['input-required']);
}

async function inbox(query = ''): Promise<Question[]> {
  return (await stage.api.call<{ items: Question[] }>('GET', `/inbox?pageSize=100${query}`)).body.items;
}

describe('A run that waits for a time', () => {
  it('is nobody’s meanwhile: it is shown, told to readers and refuses Messages as one at work does', async () => {
    const workflow = flow([pause('nap', '1h'), echo('after') as Node], 'nap>after');
    const runId = await started(workflow);
    await parked(runId);
    const base = stage.api.base(workflow.name);
    const run = await stage.api.run(runId);
    expect({ status: run.status, nap: run.nodes['nap']?.status }).toEqual({ status: 'running', nap: 'running' });
    expect((await getTask(base, runId)).status.state).toBe('TASK_STATE_WORKING');
    const refused = await rpc(base, 'SendMessage', sendParams('hello?', { fields: { taskId: runId } }));
    expect(refused.body.error?.message).toContain('is being worked on');
    await parked(runId);
    const told = await (await stage.api.events(runId)).find(({ event }) => event === 'run.parked');
    const { until: time } = told.data.payload as { until: string };
    expect(Date.parse(time) - Date.now()).toBeGreaterThan(HOUR_MS / 2);
  });

  it('keeps its streams open, and goes on in them', async () => {
    const workflow = flow([pause('nap', '1h')]);
    const runId = await started(workflow);
    await parked(runId);
    const [events, updates] = [await stage.api.events(runId), await subscribe(stage.api.base(workflow.name), runId)];
    await events.find(({ event }) => event === 'run.parked');
    const canceled = await stage.api.call('POST', `/runs/${runId}/cancel`);
    expect(canceled.body).toMatchObject({ status: 'canceled' });
    expect((await events.all()).at(-1)?.data).toMatchObject({ type: 'done', status: 'canceled' });
    expect(JSON.stringify((await updates.all()).at(-1)?.data)).toContain('TASK_STATE_CANCELED');
    expect((await stage.api.run(runId)).nodes['nap']?.status).toBe('canceled');
  });

  it('takes nothing of the replica, as many as there are', async () => {
    const count = 50;
    const workflow = await stage.api.save(flow([pause('nap', '1h')]));
    const waiting = (): Promise<number> => metric(stage.parley, 'parley_runs_waiting', 'reason="timer"');
    const before = await waiting();
    const runs = await Promise.all(Array.from({ length: count }, () => stage.api.start(workflow.name)));
    await Promise.all(runs.map(parked));
    // A reading that takes long leaves the last one.
    await until(async () => (await waiting()) === before + count, { what: `${before + count} runs to be counted` });
    await until(async () => (await metric(stage.parley, 'parley_executions')) === 0, { what: 'no execution' });
    expect(await stage.database.query('SELECT task_id FROM task WHERE replica_id IS NOT NULL')).toEqual([]);
    expect(await asleepThoughDue(stage.database.query)).toEqual([]);
  });
});

describe('A run that asks a person', () => {
  it('says in its status and in the inbox what each of its nodes asks, and by when', async () => {
    const workflow = flow([human('gate', DECISION, { onWait: { deadline: '2h' } }), human('title')]);
    const runId = await started(workflow);
    await stage.api.reached(runId, ['input-required']);
    await parked(runId);
    const { message } = (await getTask(stage.api.base(workflow.name), runId)).status;
    const gate = { node: 'gate', instance: 'gate', text: 'gate?', ...DECISION, deadline: expect.any(String) };
    const title = { node: 'title', instance: 'title', text: 'title?' };
    expect(message?.parts[0]?.text).toBe('gate?');
    expect(message?.metadata).toEqual({
      node: 'gate',
      'parley/waiting': [gate, title],
      'urn:parley:extension:form:v1': { ...DECISION, deadline: expect.any(String) },
    });
    const item = { runId, workflow: workflow.name, since: expect.any(String) };
    expect((await inbox()).filter((it) => it.runId === runId)).toEqual([
      { ...item, ...gate },
      { ...item, ...title },
    ]);
    expect((await inbox('&assignee=editors')).filter((it) => it.runId === runId)).toEqual([{ ...item, ...gate }]);
    const { deadline, since } = (await inbox('&assignee=editors')).find((it) => it.runId === runId)!;
    expect(Date.parse(String(deadline)) - Date.parse(String(since))).toBe(2 * HOUR_MS);
  });

  it('takes over /api only what fits the form', async () => {
    const runId = await started(flow([human('gate', DECISION)]));
    await stage.api.reached(runId, ['input-required']);
    const wrong = await answer(runId, 'gate', [{ data: { decision: 'maybe' } }]);
    expect(wrong.status).toBe(422);
    expect(wrong.body['errors']).toEqual([{ path: 'answer.decision', detail: expect.any(String) }]);
    expect((await answer(runId, 'gate', [{ text: 'yes' }])).status).toBe(422);
    expect((await stage.api.run(runId)).status).toBe('input-required');
    expect((await answer(runId, 'gate', [{ data: { decision: 'yes' } }])).status).toBe(202);
    const { result } = await stage.api.ended(runId);
    expect(result?.[0]?.parts[0]?.data).toEqual({ decision: 'yes' });
    expect((await answer(runId, 'gate', [{ data: { decision: 'no' } }])).status).toBe(409);
  });

  it('takes over /api one data Part where it has a form, and text where it has none', async () => {
    const free = await started(flow([human('h')]));
    const formed = await started(flow([human('h', DECISION)]));
    const yes = { data: { decision: 'yes' } };
    const wrong: [string, JsonValue, string][] = [
      [free, [{ data: { a: 1 } }], 'parts[0]'],
      [free, [{ text: 'yes' }, { data: { a: 1 } }], 'parts[1]'],
      [formed, [yes, { data: { decision: 'bad' } }], 'parts[1]'],
      [formed, [{ text: 'junk' }, yes], 'parts[0]'],
    ];
    for (const [runId, parts, path] of wrong) {
      await stage.api.reached(runId, ['input-required']);
      const refused = await answer(runId, 'h', parts);
      expect([refused.status, refused.body['errors']]).toEqual([422, [{ path, detail: expect.any(String) }]]);
    }
    expect((await answer(free, 'h', [{ text: 'yes, ' }, { text: 'do' }])).status).toBe(202);
    expect((await answer(formed, 'h', [yes])).status).toBe(202);
    expect((await stage.api.ended(free)).result?.[0]?.parts[0]?.text).toBe('yes, do');
    expect((await stage.api.ended(formed)).result?.[0]?.parts[0]?.data).toEqual(yes.data);
  });

  it('takes over /api only what the agent of its node reads, and asks on', async () => {
    const free = await started(flow([human('h')]));
    const formed = await started(flow([human('h', DECISION)]));
    const scripted = await started(flow([textOnly('h')]));
    const wrong: [string, JsonValue, string][] = [
      [free, [{ text: 'x', mediaType: 'image/png' }], 'parts[0].mediaType'],
      [formed, [{ data: { decision: 'yes' }, mediaType: 'application/vnd.x+json' }], 'parts[0].mediaType'],
      [formed, [{ data: { decision: 'yes' } }, { raw: 'aGk=', mediaType: 'image/png' }], 'parts[1].mediaType'],
      [scripted, [{ data: { a: 1 } }], 'parts[0].mediaType'],
    ];
    for (const [runId, parts, path] of wrong) {
      await stage.api.reached(runId, ['input-required']);
      const refused = await answer(runId, 'h', parts);
      expect([refused.status, refused.body['errors']]).toEqual([422, [{ path, detail: expect.any(String) }]]);
      expect((await stage.api.run(runId)).status).toBe('input-required');
    }
    expect((await answer(free, 'h', [{ text: 'x', mediaType: 'text/markdown' }])).status).toBe(202);
    expect((await answer(scripted, 'h', [{ text: 'x' }])).status).toBe(202);
    expect((await stage.api.ended(free)).status).toBe('completed');
    expect((await stage.api.ended(scripted)).status).toBe('completed');
  });

  it('asks again over A2A, and where a node of a node asks, what an agent did not take', async () => {
    const workflow = flow([textOnly('h'), human('unasked')]);
    const runId = await started(workflow);
    await stage.api.reached(runId, ['input-required']);
    const base = stage.api.base(workflow.name);
    const again = await sendTask(base, [{ data: { h: { a: 1 } } }], { fields: { taskId: runId } });
    expect(again.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const violations = [{ field: 'message.parts[0].mediaType', description: expect.any(String) }];
    const [asked] = again.status.message?.metadata?.['parley/waiting'] as JsonObject[];
    expect(asked).toMatchObject({ node: 'h', text: 'h?', violations });
    const done = await sendTask(base, [{ data: { h: 'yes', unasked: 'no' } }], { fields: { taskId: runId } });
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');

    const body = { nodes: [textOnly('deep')], edges: [] };
    const nested = await started(flow([{ id: 'w', type: 'workflow', config: { body } }]));
    await stage.api.reached(nested, ['input-required']);
    expect((await answer(nested, 'w', [{ data: { a: 1 } }])).status).toBe(202);
    await askedAgain(nested);
    expect((await answer(nested, 'w', [{ text: 'fine' }])).status).toBe(202);
    expect((await stage.api.ended(nested)).status).toBe('completed');
  });

  it('asks again over A2A what did not fit, and says what was wrong; the question keeps its time', async () => {
    const workflow = flow([human('gate', DECISION, { onWait: { deadline: '2h' } })]);
    const runId = await started(workflow);
    await stage.api.reached(runId, ['input-required']);
    const [before] = (await inbox()).filter((it) => it.runId === runId);
    const base = stage.api.base(workflow.name);
    const again = await sendTask(base, [{ data: { decision: 'maybe' } }], { fields: { taskId: runId } });
    expect(again.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(again.status.message?.metadata).toMatchObject({
      'urn:parley:extension:form:v1': { violations: [{ field: 'answer.decision', description: expect.any(String) }] },
    });
    expect((await inbox()).filter((it) => it.runId === runId)).toEqual([before]);
    const done = await sendTask(base, [{ data: { decision: 'no' } }], { fields: { taskId: runId } });
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('refuses over A2A an answer to a node that asks nothing, and writes nothing', async () => {
    const workflow = flow([human('gate', DECISION), human('title')]);
    const runId = await started(workflow);
    await stage.api.reached(runId, ['input-required']);
    const base = stage.api.base(workflow.name);
    const answerTo = (node: JsonValue) => {
      const fields = { taskId: runId, metadata: { node } };
      return rpc(base, 'SendMessage', sendParams('Tea', { fields }));
    };
    expect((await answerTo('title')).body.error).toBeUndefined();
    await stage.api.reached(runId, ['input-required']);
    const before = await getTask(base, runId);
    for (const [node, description] of [
      ['zz', 'must be a node of the run'],
      ['title', 'names a node without an open question'],
      [7, 'must be the name of a node'],
    ] as const) {
      const { error } = (await answerTo(node)).body;
      expect(error).toMatchObject({ code: -32602, message: `message.metadata.node: ${description}` });
      expect(JSON.stringify(error?.data)).toContain('"field":"message.metadata.node"');
    }
    expect(await getTask(base, runId)).toEqual(before);
  });
});

describe('A question that nobody answers in time', () => {
  const onWait = (deadline: string, fallback?: JsonValue) => ({
    onWait: { deadline, ...(fallback !== undefined && { default: fallback }) },
  });

  it('is answered by the run with what the definition says, and by nobody after that', async () => {
    const runId = await started(flow([human('gate', DECISION, onWait('1s', { decision: 'no' }))]));
    const { result } = await stage.api.ended(runId);
    expect(result?.[0]?.parts[0]?.data).toEqual({ decision: 'no' });
    const frames = await (await stage.api.events(runId)).all();
    const sent = frames.filter(({ event }) => event === 'a2a.sending').map(({ data }) => data.payload);
    expect(sent.map(({ answeredBy }) => answeredBy)).toEqual([undefined, 'deadline']);
    expect(frames.map(step)).toContain('input.required:gate');
    expect((await answer(runId, 'gate', [{ data: { decision: 'yes' } }])).status).toBe(409);
    expect((await inbox()).filter((it) => it.runId === runId)).toEqual([]);
  });

  it('fails its node where the definition has no answer; whoever takes care of failures does', async () => {
    const workflow = flow([human('gate', {}, onWait('1s')), echo('late') as Node]);
    const edges = [{ from: 'gate', to: 'late', on: 'failure', when: "error.kind == 'timeout'" }];
    const runId = await started({ ...workflow, edges });
    const run = await stage.api.ended(runId);
    expect({ status: run.status, gate: run.nodes['gate']?.status, late: run.nodes['late']?.status }).toEqual({
      status: 'completed',
      gate: 'failed',
      late: 'completed',
    });
    const asked = () => getTask(stage.api.base(workflow.name, 'gate'), run.nodes['gate']?.taskId ?? '');
    const canceled = async () => (await asked()).status.state === 'TASK_STATE_CANCELED';
    await until(canceled, { what: 'nobody to be asked any more' });
  });

  it('has its time from when the run asks it: while others work nobody could answer', async () => {
    const work = {
      id: 'work',
      type: 'script',
      config: { script: { rules: [], otherwise: [{ sleep: 1_500 }, { complete: 'x' }] } },
    };
    const runId = await started(flow([human('gate', {}, onWait('1s', 'no')), work as unknown as Node]));
    await stage.api.ended(runId);
    const frames = await (await stage.api.events(runId)).all();
    const asked = frames.filter(({ event, data }) => event === 'input.required' || data.payload?.answeredBy);
    expect(asked.map(({ event }) => event)).toEqual(['input.required', 'a2a.sending']);
    const [open, over] = asked.map(({ data }) => Date.parse(data.timestamp));
    expect(over! - open!).toBeGreaterThanOrEqual(1_000);
  });

  it('leaves the others as they are: they are asked on, since when they were', async () => {
    const runId = await started(
      flow([human('gate', {}, onWait('1s', 'no')), human('title'), echo('out') as Node], 'gate>out', 'title>out'),
    );
    const mine = async () => (await inbox()).filter((it) => it.runId === runId);
    const answered = async () => (await stage.api.run(runId)).nodes['gate']?.status === 'completed';
    await until(answered, { what: 'the answer to one of them' });
    await stage.api.reached(runId, ['input-required']);
    const [title, ...others] = await mine();
    expect([title?.node, others]).toEqual(['title', []]);
    const { data } = await (await stage.api.events(runId)).find((it) => it.data.payload['answeredBy'] === 'deadline');
    // Both were asked at the same time.
    expect(Date.parse(data.timestamp) - Date.parse(String(title?.['since']))).toBeGreaterThanOrEqual(1_000);
    expect((await answer(runId, 'title', [{ text: 'A title' }])).status).toBe(202);
    expect((await stage.api.ended(runId)).nodes['gate']?.artifacts[0]?.parts[0]?.text).toBe('no');
  });
});

it('A node that waits, called by itself, is nobody’s meanwhile either', async () => {
  const workflow = await stage.api.save(flow([pause('nap', '1h')]));
  const base = stage.api.base(workflow.name, 'nap');
  const sent = await rpc<{ task: { id: string } }>(
    base,
    'SendMessage',
    sendParams('go on', { configuration: { returnImmediately: true } }),
  );
  const taskId = sent.body.result?.task.id ?? '';
  await parked(taskId);
  expect((await rpc(base, 'CancelTask', { id: taskId })).body.result).toMatchObject({
    status: { state: 'TASK_STATE_CANCELED' },
  });
});

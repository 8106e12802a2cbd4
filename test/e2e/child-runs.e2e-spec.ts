import pg from 'pg';
import type { AgentCard, JsonObject } from '#libs/protocol';
import { firstText, sendTask } from '../support/a2a.js';
import { EventGate } from '../support/event-gate.js';
import { holds } from '../support/fake-behaviour.js';
import { startParley } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import {
  Api,
  echo,
  external,
  input,
  linear,
  output,
  type Run,
  textOf,
  unique,
  type Workflow,
  type WorkflowNode,
} from '../support/workflow.js';

const stage = useStage();

const node = (id: string, type: string, config: JsonObject): WorkflowNode => ({ id, type, config });
const runs = (id: string, workflow: string, config: JsonObject = {}): WorkflowNode =>
  node(id, 'workflow', { workflow, ...config });
/** `${…}` is an expression in it. */
const inLanguage2 = (workflow: Workflow): Workflow => ({ ...workflow, ...{ language: 2 } });

describe('a workflow node in a run', () => {
  it('a child run is shown by its parent alone, whole', async () => {
    const name = unique('shown');
    await stage.api.save(linear(`${name}_child`, input('who'), echo('a', { prompt: '{{who}}' }), output('out')));
    const run = await stage.api.finish(linear(name, input('given'), runs('greet', `${name}_child`), output('out')), {
      given: 'x',
    });
    const childId = run.nodes['greet']?.taskId ?? '';
    expect(await runIds(`?parent=${run.runId}`)).toEqual([childId]);
    expect(await runIds(`?parent=${run.runId}&workflow=${name}_child&status=completed`)).toEqual([childId]);
    for (const none of [
      `?parent=${run.runId}&workflow=other`,
      `?parent=${childId}`,
      `?parent=${run.runId}&status=failed`,
    ])
      expect(await runIds(none)).toEqual([]);
    expect(await runIds('')).toContain(run.runId);
    expect(await runIds('')).not.toContain(childId);
    expect(await stage.api.run(childId)).toMatchObject({
      workflow: `${name}_child`,
      inputs: { who: 'x' },
      nodes: { a: { status: 'completed', agentUrl: stage.api.base(`${name}_child`, 'a') } },
    });
    expect((await stage.api.call('GET', `/runs/${childId}/workflow`)).body).toMatchObject({ name: `${name}_child` });
    const echoed = (await stage.api.run(childId)).nodes['a']?.taskId ?? '';
    expect((await stage.api.call('GET', `/runs/${echoed}`)).status).toBe(404);
  });

  it('a child run is not run anew by itself, and says what is', async () => {
    const name = unique('part');
    await stage.api.save(linear(`${name}_child`, output('out', { prompt: 'said' })));
    const run = await stage.api.finish(linear(name, runs('c', `${name}_child`), output('out')));
    const childId = run.nodes['c']?.taskId ?? '';
    const refused = await stage.api.call('POST', `/runs/${childId}/rerun`, {});
    expect([refused.status, refused.body['detail']]).toEqual([
      409,
      `the run is one of node "c" of run ${run.runId}: rerun that from the node`,
    ]);
    expect((await stage.api.call('POST', `/runs/${run.nodes['out']?.taskId}/rerun`, {})).status).toBe(404);
    const again = await stage.api.call<{ runId: string }>('POST', `/runs/${run.runId}/rerun`, { from: ['c'] });
    const anew = await stage.api.ended(again.body.runId);
    expect([textOf(anew.result), anew.nodes['c']?.taskId === childId]).toEqual(['said', false]);
  });

  it('a child stays as it was when its parent was saved', async () => {
    const name = unique('pinned');
    const child = (says: string): Workflow => linear(`${name}_child`, output('out', { prompt: says }));
    await stage.api.save(child('old'));
    await stage.api.save(linear(name, runs('c', `${name}_child`), output('out')));
    const saved = await stage.api.call('GET', `/workflows/${name}`);
    expect(saved.body).toMatchObject({ nodes: [{ config: { workflow: `${name}_child`, revision: '1' } }, {}] });
    await stage.api.call('PUT', `/workflows/${name}_child`, child('new'));
    expect(textOf((await stage.api.ended(await stage.api.start(name))).result)).toBe('old');
    await stage.api.call('DELETE', `/workflows/${name}_child`);
    expect(textOf((await stage.api.ended(await stage.api.start(name))).result)).toBe('old');
  });

  it('what does not fit the inputs of the child fails the node', async () => {
    const name = unique('inputs');
    const schema = { type: 'object', required: ['n'] };
    await stage.api.save(linear(`${name}_child`, node('given', 'input', { schema }), output('out')));
    const run = await stage.api.finish(linear(name, runs('c', `${name}_child`, { inputs: { given: { m: 1 } } })));
    expect(run).toMatchObject({ status: 'failed', error: { node: 'c' } });
    expect(run.error?.message).toContain('inputs.given: must have required property');
  });

  it('a cancel goes down to the agents of the child', async () => {
    const name = unique('cancel');
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    await stage.api.save(linear(`${name}_child`, external('x', fake.url, { prompt: 'work' })));
    await stage.api.save(linear(name, runs('c', `${name}_child`)));
    const runId = await stage.api.start(name);
    const childId = await until(async () => (await stage.api.run(runId)).nodes['c']?.taskId);
    await until(async () => (await stage.api.run(childId)).nodes['x']?.taskId, { what: "the agent's Task" });
    expect((await stage.api.call('POST', `/runs/${runId}/cancel`)).body).toMatchObject({ status: 'canceled' });
    await until(() => fake.cancels.length === 1, { what: 'CancelTask at the agent' });
    const child = await stage.api.ended(childId);
    expect(child).toMatchObject({ status: 'canceled', nodes: { x: { status: 'canceled' } } });
  });

  it('a child that is canceled by itself fails its node', async () => {
    const name = unique('alone');
    await stage.api.save(linear(`${name}_child`, node('q', 'human', { prompt: 'Well?' })));
    await stage.api.save(linear(name, runs('c', `${name}_child`)));
    const runId = await stage.api.start(name);
    const { nodes } = await stage.api.reached(runId, ['input-required']);
    expect((await stage.api.call('POST', `/runs/${nodes['c']?.taskId}/cancel`)).status).toBe(200);
    expect(await stage.api.run(nodes['c']?.taskId ?? '')).toMatchObject({ status: 'canceled' });
    expect(await stage.api.ended(runId)).toMatchObject({ status: 'failed', error: { kind: 'aborted', node: 'c' } });
  });

  it('a child that nobody answers in time goes on, and its parent with it', async () => {
    const name = unique('late');
    const late = { ...node('q', 'human', { prompt: 'Well?' }), onWait: { deadline: '200ms', default: 'nobody' } };
    await stage.api.save(linear(`${name}_child`, late, output('out')));
    await stage.api.save(linear(name, runs('c', `${name}_child`), output('out')));
    const run = await stage.api.ended(await stage.api.start(name));
    expect([run.error, textOf(run.result)]).toEqual([undefined, 'nobody']);
  });

  it('a child that is answered by itself goes on, and its parent with it, also where that is answered as well', async () => {
    const name = unique('itself');
    await stage.api.save(linear(`${name}_child`, node('q', 'human', { prompt: 'Well?' }), output('out')));
    await stage.api.save(linear(name, runs('c', `${name}_child`), output('out')));
    const answered = (runId: string, asking: string) =>
      stage.api.call('POST', `/runs/${runId}/answers`, { node: asking, parts: [{ text: asking }] });
    const asked = async (): Promise<[parent: string, child: string]> => {
      const runId = await stage.api.start(name);
      return [runId, (await stage.api.reached(runId, ['input-required'])).nodes['c']?.taskId ?? ''];
    };
    const [alone, child] = await asked();
    expect((await answered(child, 'q')).status).toBe(202);
    expect(textOf((await stage.api.ended(alone)).result)).toBe('q');
    const [both, itsChild] = await asked();
    await Promise.all([answered(both, 'c'), answered(itsChild, 'q')]);
    const run = await stage.api.ended(both);
    expect([run.error, run.nodes['c']?.attempts]).toEqual([undefined, 1]);
    expect(['c', 'q']).toContain(textOf(run.result));
  });

  it('a child that is answered at another replica just as its parent begins to wait goes on, and its parent with it', async () => {
    const name = unique('meanwhile');
    const other = await startParley({ databaseUrl: stage.database.url });
    stage.defer(() => other.stop());
    await stage.api.save(linear(`${name}_child`, node('q', 'human', { prompt: 'Well?' }), output('out')));
    await stage.api.save(linear(name, runs('asker', `${name}_child`), output('out')));
    const gate = await EventGate.holding(stage.database, 'input.required%asker');
    stage.defer(() => gate.end());
    const runId = await stage.api.start(name);
    await gate.reached();
    const [child] = await stage.database.query<{ task_id: string }>(
      'SELECT task_id FROM task WHERE parent_task_id = $1',
      [runId],
    );
    const [atOther, childId] = [new Api(other.url), child?.task_id ?? ''];
    const answered = await atOther.call('POST', `/runs/${childId}/answers`, { node: 'q', parts: [{ text: 'so' }] });
    expect([answered.status, (await atOther.ended(childId)).status]).toEqual([202, 'completed']);
    await gate.end();
    expect(textOf((await stage.api.ended(runId)).result)).toBe('so');
  });

  it('a child whose answer is still being committed when its waiting parent is looked at goes on, and its parent with it', async () => {
    const name = unique('committing');
    const other = await startParley({ databaseUrl: stage.database.url });
    stage.defer(() => other.stop());
    await stage.api.save(linear(`${name}_child`, node('q', 'human', { prompt: 'Well?' }), output('out')));
    await stage.api.save(linear(name, runs('asker', `${name}_child`), output('out')));
    const answering = await heldAnswers();
    const gate = await EventGate.holding(stage.database, 'input.required%asker');
    stage.defer(() => gate.end());
    const runId = await stage.api.start(name);
    await gate.reached();
    const [child] = await stage.database.query<{ task_id: string }>(
      'SELECT task_id FROM task WHERE parent_task_id = $1',
      [runId],
    );
    const answer = { node: 'q', parts: [{ text: 'so' }] };
    const answered = new Api(other.url).call('POST', `/runs/${child?.task_id}/answers`, answer);
    await answering.reached();
    await gate.open();
    await stage.api.reached(runId, ['input-required']);
    await until(() => answering.isLookedAt(), { what: 'a look at what the run asks' });
    await answering.end();
    expect((await answered).status).toBe(202);
    expect(textOf((await stage.api.ended(runId)).result)).toBe('so');
  });

  it('a child that is answered while somebody holds its waiting parent goes on, and its parent with it', async () => {
    const name = unique('held');
    await stage.api.save(linear(`${name}_child`, node('q', 'human', { prompt: 'Well?' }), output('out')));
    await stage.api.save(linear(name, runs('asker', `${name}_child`), output('out')));
    const runId = await stage.api.start(name);
    const childId = (await stage.api.reached(runId, ['input-required'])).nodes['asker']?.taskId ?? '';
    const holder = new pg.Client({ connectionString: stage.database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM task WHERE task_id = $1 FOR UPDATE', [runId]);
    await stage.api.call('POST', `/runs/${childId}/answers`, { node: 'q', parts: [{ text: 'so' }] });
    expect((await stage.api.ended(childId)).status).toBe('completed');
    await holder.end();
    expect(textOf((await stage.api.ended(runId)).result)).toBe('so');
  });

  it('a question of a child is answered at the parent', async () => {
    const name = unique('asks');
    await stage.api.save(linear(`${name}_child`, node('q', 'human', { prompt: 'Well?' }), output('out')));
    await stage.api.save(linear(name, runs('c', `${name}_child`), output('out')));
    const asked = await sendTask(stage.api.base(name), 'go');
    expect(asked.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'Well?' }] } });
    expect(firstText(await sendTask(stage.api.base(name), 'so it is', { fields: { taskId: asked.id } }))).toBe(
      'so it is',
    );
  });

  it('a workflow does not come to run itself again: refused at save, and at the run where no save can see it', async () => {
    const name = unique('again');
    await stage.api.save(linear(`${name}_b`, echo('e')));
    await stage.api.save(linear(`${name}_a`, runs('c', `${name}_b`)));
    const refused = await stage.api.call('PUT', `/workflows/${name}_b`, linear(`${name}_b`, runs('c', `${name}_a`)));
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({ errors: [{ code: 'LOOP_DETECTED', path: 'nodes[0].config.workflow' }] });
    const unseen = linear(`${name}_b`, external('x', stage.api.base(`${name}_a`), { prompt: 'go' }));
    expect((await stage.api.call('PUT', `/workflows/${name}_b`, unseen)).status).toBe(200);
    await stage.api.call('PUT', `/workflows/${name}_a`, linear(`${name}_a`, runs('c', `${name}_b`)));
    const run = await stage.api.ended(await stage.api.start(`${name}_a`));
    expect(run.status).toBe('failed');
    expect(run.error?.message).toContain('LOOP_DETECTED');
  });

  it('ten runs lie in each other below the first, and no more', async () => {
    const name = unique('deep');
    await stage.api.save(linear(`${name}_0`, output('out', { prompt: 'the bottom' })));
    const above = (level: number) => linear(`${name}_${level}`, runs('c', `${name}_${level - 1}`), output('out'));
    for (let level = 1; level <= 10; level += 1) await stage.api.save(above(level));
    expect(textOf((await stage.api.ended(await stage.api.start(`${name}_10`))).result)).toBe('the bottom');
    const refused = await stage.api.call('POST', '/workflows', above(11));
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({ errors: [{ code: 'DEPTH_EXCEEDED', path: 'nodes[0].config.workflow' }] });
    expect((await stage.api.call('POST', '/workflows/check', above(11))).text).toContain('DEPTH_EXCEEDED');
  });

  it('unknown workflows and revisions are refused at save and told of by the check', async () => {
    const name = unique('unknown');
    const definition = linear(name, runs('a', 'nobody_at_all'), echo('e'));
    for (const path of ['/workflows', '/workflows/check']) {
      const reply = await stage.api.call('POST', path, definition);
      expect(reply.text).toContain('there is no workflow \\"nobody_at_all\\"');
    }
    expect((await stage.api.call('GET', `/workflows/${name}`)).status).toBe(404);
    await stage.api.save(linear(`${name}_child`, echo('e')));
    const reply = await stage.api.call(
      'POST',
      '/workflows',
      linear(name, runs('a', `${name}_child`, { revision: '7' })),
    );
    expect([reply.status, reply.text]).toEqual([422, expect.stringContaining('UNKNOWN_REVISION')]);
  });
});

describe('a workflow that stands in a node', () => {
  const BODY: JsonObject = {
    nodes: [
      { id: 'who', type: 'input' },
      { id: 'ask', type: 'agent', config: { prompt: "${nodes.who.text + '?'}" } },
      { id: 'done', type: 'output' },
    ],
    edges: [
      { from: 'who', to: 'ask' },
      { from: 'ask', to: 'done' },
    ],
  };
  const nested = (name: string): Workflow =>
    inLanguage2(
      linear(
        name,
        input('given'),
        node('outer', 'workflow', {
          inputs: { who: '${nodes.given.text}' },
          body: {
            nodes: [
              { id: 'who', type: 'input' },
              { id: 'inner', type: 'workflow', config: { body: BODY } },
              { id: 'say', type: 'output', config: { prompt: 'said {{inner}}' } },
            ],
            edges: [
              { from: 'who', to: 'inner' },
              { from: 'inner', to: 'say' },
            ],
          },
        }),
        output('out'),
      ),
    );
  it('runs, and its nodes are agents at the node', async () => {
    const name = unique('inline');
    const run = await stage.api.finish(nested(name), { given: 'Ada' });
    expect([run.error, textOf(run.result)]).toEqual([undefined, 'said Ada?']);
    const child = await stage.api.run(run.nodes['outer']?.taskId ?? '');
    expect(child).toMatchObject({ workflow: `${name}.outer`, inputs: { who: 'Ada' } });
    const grandchild = await stage.api.run(child.nodes['inner']?.taskId ?? '');
    expect(grandchild.nodes['ask']?.agentUrl).toBe(stage.api.base(name, 'outer.inner.ask'));
    expect(await runIds(`?parent=${child.runId}`)).toEqual([grandchild.runId]);
    expect(firstText(await sendTask(stage.api.base(name, 'outer.inner.ask'), 'directly'))).toBe('directly');
    const card = await fetch(`${stage.api.base(name, 'outer.inner')}/.well-known/agent-card.json`);
    expect(((await card.json()) as AgentCard).name).toBe('outer.inner');
    const agents = (await (await fetch(`${stage.parley.url}/a2a/agents?pageSize=100`)).text()) ?? '';
    expect(agents).toContain(`${name}/nodes/outer.inner.ask`);
  });

  it('runs over HTTP as well', async () => {
    const parley = await startParley({ databaseUrl: stage.database.url, env: { NODE_DISPATCH: 'http' } });
    stage.defer(() => parley.stop());
    const api = new Api(parley.url);
    const run = await api.finish(nested(unique('wired')), { given: 'Eve' });
    expect([run.error, textOf(run.result)]).toEqual([undefined, 'said Eve?']);
    expect(await runIds(`?parent=${run.runId}`)).toEqual([run.nodes['outer']?.taskId]);
  });
});

describe('kill -9 of the replica of a child run', () => {
  it('another one goes on with both; what had finished is not called again', async () => {
    const name = unique('killed');
    const [first, second] = [await stage.fake(), await stage.fake({ streaming: true })];
    second.always(holds('second'));
    const child = linear(
      `${name}_child`,
      external('one', first.url, { prompt: 'one' }),
      external('two', second.url, { prompt: 'two of {{one}}' }),
      output('out'),
    );
    await stage.api.save(child);
    await stage.api.save(linear(name, runs('c', child.name), output('out')));
    const other = await startParley({ databaseUrl: stage.database.url });
    stage.defer(() => other.kill9().catch(() => undefined));
    const runId = await new Api(other.url).start(name);
    await until(() => second.taskIds().length === 1, { what: 'the second agent at work' });
    const childId = await until(async () => (await stage.api.run(runId)).nodes['c']?.taskId);
    await until(async () => (await stage.api.run(childId)).nodes['two']?.taskId, { what: 'its Task to be known' });
    await other.kill9();
    await until(() => second.calls.some(({ method }) => method === 'SubscribeToTask' || method === 'GetTask'), {
      what: 'another replica to take over',
    });
    second.release();
    const run = await stage.api.ended(runId);
    expect([run.status, textOf(run.result)]).toEqual(['completed', 'second']);
    expect(run.nodes['c']).toMatchObject({ taskId: childId, attempts: 1 });
    expect([first.sends.length, second.sends.length]).toEqual([1, 1]);
    expect(await runIds(`?parent=${runId}`)).toEqual([childId]);
  });
});

async function runIds(query: string): Promise<string[]> {
  const reply = await stage.api.call<{ runs: Run[] }>('GET', `/runs${query}`);
  if (reply.status !== 200) throw new Error(`GET /runs${query}: ${reply.status} ${reply.text}`);
  return reply.body.runs.map(({ runId }) => runId);
}

/** Holds back the commits that end waits of children, after all that they set going, until the test lets them pass. */
async function heldAnswers() {
  const LOCK = 4_712;
  const session = new pg.Client({ connectionString: stage.database.url });
  await session.connect();
  await session.query('SELECT pg_advisory_lock($1)', [LOCK]);
  await session.query(`
    CREATE FUNCTION held_answer() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock(${LOCK}); RETURN NULL; END $$`);
  await session.query(`
    CREATE TRIGGER zz_held_answer AFTER UPDATE OF state ON task FOR EACH ROW
    WHEN (OLD.state = 'TASK_STATE_INPUT_REQUIRED' AND OLD.parent_task_id IS NOT NULL)
    EXECUTE FUNCTION held_answer()`);
  const has = async (text: string, values: unknown[] = []) => ((await session.query(text, values)).rowCount ?? 0) > 0;
  return {
    reached: () =>
      until(() => has(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted`, [LOCK]), {
        what: 'an answer to be held back',
      }),
    /** Whether the job that looks once more at waiting runs has looked, or waits for the answer. */
    isLookedAt: async () =>
      !(await has(`SELECT FROM graphile_worker.jobs WHERE task_identifier = 'runs.look-again'`)) ||
      (await has(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'`)),
    end: async () => {
      await session.query('SELECT pg_advisory_unlock($1)', [LOCK]);
      await session.query('DROP TRIGGER zz_held_answer ON task');
      await session.query('DROP FUNCTION held_answer');
      await session.end();
    },
  };
}

import type { JsonObject } from '#libs/protocol';
import { outlines, Talks } from '../support/conversation.js';
import { answers, holds } from '../support/fake-behaviour.js';
import { EventGate } from '../support/event-gate.js';
import { ModelTalk } from '../support/model-talk.js';
import { type Parley, startParley } from '../support/parley.js';
import { ids, range } from '../support/sse.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, linear, script, unique } from '../support/workflow.js';

const stage = useStage();
/** A second replica on the same database, which a test kills. */
async function mortal(): Promise<{ parley: Parley; talks: Talks }> {
  const parley = await startParley({ databaseUrl: stage.database.url });
  stage.defer(() => parley.kill9().catch(() => undefined));
  return { parley, talks: new Talks(new Api(parley.url)) };
}

describe('kill -9 of the replica that a conversation runs in', () => {
  it('L1, L2 a turn under way is attached to again; no turn is sent twice, and a reader misses nothing', async () => {
    const { parley, talks } = await mortal();
    const [a, b] = [await stage.fake({ name: 'a', streaming: true }), await stage.fake({ name: 'b', streaming: true })];
    a.always((_call, index) => answers(`A${index + 1}`));
    b.next(answers('B1'), holds('B2')).always(answers('B3'));
    const id = await talks.start({ requester: a.url, target: b.url, message: 'hello', maxTurns: 4 });
    const reader = await talks.events(id);
    await reader.find(({ id: cseq }) => cseq === '3');
    await b.sent(2);
    await until(async () => JSON.stringify(await taskLog(id)).includes(b.taskIds()[1] ?? 'unknown'), {
      what: 'the Task to be known',
    });
    await parley.kill9();
    await until(() => b.calls.some(({ method }) => method === 'SubscribeToTask' || method === 'GetTask'), {
      what: 'another replica to take over',
    });
    const rest = await new Talks(stage.api).events(id, reader.frames.at(-1)?.id);
    b.release();
    const frames = [...reader.frames, ...(await rest.all())];
    expect(outlines(frames)).toEqual(['0 hello', '1 B1', '2 A1', '3 B2', '4 A2', '5 B3', 'complete max_turns']);
    expect(ids(frames)).toEqual(range(1, 7));
    expect(b.texts).toEqual(['hello', 'A1', 'A2']);
    expect(a.texts).toEqual(['B1', 'B2']);
    expect((await new Talks(stage.api).get(id)).turns).toHaveLength(6);
  });

  it('a turn whose answer was never seen is asked for again under the same messageId, within the stored limit', async () => {
    const { parley, talks } = await mortal();
    const b = await stage.fake({ name: 'b' });
    b.next({ hang: true }).always(answers('second time'));
    const id = await talks.start({ target: b.url, message: 'hello', timeoutMs: 90_000 });
    await b.sent();
    await parley.kill9();
    const done = await new Talks(stage.api).ended(id);
    expect(done.timeoutMs).toBe(90_000);
    expect(done.turns.map(({ text }) => text)).toEqual(['hello', 'second time']);
    expect(b.sends).toHaveLength(2);
    expect(b.sends[1]?.message?.messageId).toBe(b.sends[0]?.message?.messageId);
  });

  it('an agent of the service works on and is not asked again', async () => {
    const { parley, talks } = await mortal();
    const [name, node] = [unique('slow'), unique('node')];
    const steps: JsonObject[] = [
      { status: 'working' },
      { sleep: 1_500 },
      { artifact: { parts: [{ text: 'slowly' }] } },
    ];
    await stage.api.save(linear(name, script(node, ...steps, { complete: 'done' })));
    const a = await stage.fake({ name: 'a' });
    a.always(answers('A1'));
    const id = await talks.start({ requester: a.url, target: node, message: 'hello', maxTurns: 1 });
    await until(async () => (await childTasks(name, node)).length === 1, { what: 'the node to be at work' });
    await parley.kill9();
    const done = await new Talks(stage.api).ended(id);
    expect(await childTasks(name, node)).toHaveLength(1);
    expect(done.turns.length === 3 || done.error?.code === 'AGENT_FAILED').toBe(true);
  });

  it('a model is told the same when another replica asks it again, and ends with the token', async () => {
    const { parley, talks } = await mortal();
    const models = await ModelTalk.of(stage);
    const { poet, critic } = models;
    models.says('B1', 'A1');
    const { answer } = models.llm;
    const asked = Promise.withResolvers<void>();
    models.llm.answer = (body) => {
      if (models.told(poet).length !== 1) return answer(body);
      asked.resolve();
      return new Promise<never>(() => undefined);
    };
    const id = await talks.start({ requester: poet, target: critic, message: 'hello', maxTurns: 5 });
    await asked.promise;
    await parley.kill9();
    const here = new Talks(stage.api);
    const done = await here.ended(id);
    expect(done.turns.map(({ text }) => text)).toEqual(['hello', 'B1', 'A1']);
    expect(done.outcome).toBe('skipped');
    const [first, again] = models.told(poet);
    expect(again).toEqual(first);
    expect(again?.slice(1)).toEqual([
      ['assistant', 'hello'],
      ['user', 'B1'],
    ]);
    expect(JSON.stringify(await (await here.events(id)).all())).not.toContain('REPLY_SKIP');
  });

  it('the announcement of a conversation that had ended is made by another replica, once', async () => {
    const { parley, talks } = await mortal();
    const [b, herald] = [await stage.fake(), await stage.fake({ streaming: true })];
    b.always(answers('B1'));
    herald.always(holds('told'));
    const id = await talks.start({ target: b.url, message: 'hello', announce: herald.url });
    await herald.sent();
    await until(async () => JSON.stringify(await taskLog(id)).includes(herald.taskIds()[0] ?? 'unknown'));
    await parley.kill9();
    await until(() => herald.calls.some(({ method }) => method === 'SubscribeToTask' || method === 'GetTask'), {
      what: 'another replica to take over',
    });
    herald.release();
    const done = await new Talks(stage.api).reached(id, ({ announcement }) => announcement !== undefined);
    expect(done).toMatchObject({ announcement: 'delivered', outcome: 'done' });
    expect(herald.sends).toHaveLength(1);
    expect(b.sends).toHaveLength(1);
    expect(outlines(await (await new Talks(stage.api).events(id)).all())).toEqual(['0 hello', '1 B1', 'complete done']);
  });

  it('a resume that came while the conversation began to wait is not lost with the replica that took it', async () => {
    const { parley, talks } = await mortal();
    const here = new Talks(stage.api);
    const [a, b] = [await stage.fake(), await stage.fake({ streaming: true })];
    a.always(answers('A1'));
    b.next(holds('B1')).always(answers('B2'));
    const gate = await EventGate.holding(stage.database, 'The conversation is paused.');
    stage.defer(() => gate.end());
    const id = await here.start({ requester: a.url, target: b.url, message: 'hello', maxTurns: 2 });
    await b.sent();
    await here.command(id, 'pause');
    b.release();
    await gate.reached();
    expect((await talks.command(id, 'resume')).status).toBe(202);
    await parley.kill9();
    await gate.end();
    expect((await here.ended(id)).turns.map(({ text }) => text)).toEqual(['hello', 'B1', 'A1', 'B2']);
  });

  it('a paused conversation waits in the database, and any replica resumes it', async () => {
    const { parley, talks } = await mortal();
    const b = await stage.fake({ streaming: true });
    b.next(holds('B1')).always(answers('B2'));
    const a = await stage.fake();
    a.always(answers('A1'));
    const id = await talks.start({ requester: a.url, target: b.url, message: 'hello', maxTurns: 2 });
    await b.sent();
    const here = new Talks(stage.api);
    await here.command(id, 'pause');
    b.release();
    await here.reached(id, ({ paused }) => paused === true);
    await parley.kill9();
    expect((await here.get(id)).paused).toBe(true);
    await here.command(id, 'resume');
    expect((await here.ended(id)).turns.map(({ text }) => text)).toEqual(['hello', 'B1', 'A1', 'B2']);
  });
});

describe('a database that drops every session', () => {
  it('costs a conversation nothing but time', async () => {
    const talks = new Talks(stage.api);
    const [a, b] = [await stage.fake({ name: 'a', streaming: true }), await stage.fake({ name: 'b' })];
    a.always(answers('A1'));
    b.always((call, index) => {
      if (index === 0) void dropSessions();
      return answers(`B${index + 1} to ${call.text}`);
    });
    const id = await talks.start({ requester: a.url, target: b.url, message: 'hello', maxTurns: 2 });
    const shown = async () => talks.get(id).catch(() => undefined);
    const done = await until(
      async () => {
        const view = await shown();
        return view?.status === 'complete' && view;
      },
      { what: 'the conversation to end' },
    );
    expect(done.turns.map(({ text }) => text)).toEqual(['hello', 'B1 to hello', 'A1', 'B2 to A1']);
    expect(done.outcome).toBe('max_turns');
    expect([a.sends.length, b.sends.length]).toEqual([1, 2]);
  });
});

/** Breaks every connection to the database but the test's own. */
function dropSessions(): Promise<unknown> {
  return stage.database.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
}

/** What the conversation's Task has told so far. */
function taskLog(id: string): Promise<unknown> {
  return stage.database.query('SELECT payload FROM task_event WHERE task_id = $1', [id]);
}

async function childTasks(workflow: string, node: string): Promise<unknown[]> {
  const response = await fetch(`${stage.api.base(workflow, node)}/tasks`, { headers: { 'a2a-version': '1.0' } });
  return ((await response.json()) as { tasks: unknown[] }).tasks;
}

import type { Message, Task } from '#libs/protocol';
import { getTask, outline, rpc, sendParams, sendTask, stream } from '../support/a2a.js';
import { answers, answersParts, holds } from '../support/fake-behaviour.js';
import { ids, range } from '../support/sse.js';
import { useSharedStage } from '../support/shared-stage.js';
import { before } from '../support/until.js';
import { echo, external, input, linear, output, script, textOf, unique } from '../support/workflow.js';

const stage = useSharedStage();

describe('rows K: traps of the founding documents (K1 with D7, K2 with C10, K4 with B14, K8, K9, K13 with C8, K10 with F6, K14 with E6)', () => {
  it('K3 1.0 shapes are what a caller of 1.0 gets: ProtoJSON states and roles, Parts without a type', async () => {
    const name = unique('k3');
    await stage.api.save(linear(name, echo('a')));
    const text = JSON.stringify(await sendTask(stage.api.base(name, 'a'), 'hello'));
    expect(text).toContain('"TASK_STATE_COMPLETED"');
    expect(text).toContain('"ROLE_USER"');
    expect(text).toContain('"ROLE_AGENT"');
    expect(text).not.toMatch(/"kind"|"type":"text"|"mimeType"|"role":"user"/);
  });

  it('K7 no bare Message in the stream of a Task: what the agent says is in status Messages, and they are history', async () => {
    const name = unique('k7');
    await stage.api.save(
      linear(
        name,
        script(
          'a',
          { status: 'working', text: 'thinking' },
          { artifact: { parts: [{ text: 'r' }] } },
          { complete: 'there you are' },
        ),
      ),
    );
    const frames = await (await stream(stage.api.base(name, 'a'), 'go')).all();
    const events = frames.map(({ data }) => data.result);
    expect(events.map(outline).filter((it) => it === 'message')).toEqual([]);
    const first = events[0] as { task: Task };
    const task = await getTask(stage.api.base(name, 'a'), first.task.id);
    expect(task.history?.map((it: Message) => it.parts[0]?.text)).toEqual(['go', 'thinking', 'there you are']);
  });

  it("K11 two runs of one workflow never see each other's events", async () => {
    const name = unique('k11');
    await stage.api.save(linear(name, input('in'), echo('a'), output('out')));
    const streams = await Promise.all(range(1, 10).map((n) => stage.api.stream(name, { in: `run ${n}` })));
    const all = await Promise.all(streams.map((one) => one.all()));
    all.forEach((frames, index) => {
      expect(new Set(frames.map(({ data }) => data.runId)).size).toBe(1);
      expect(ids(frames)).toEqual(range(1, frames.length));
      expect(frames.at(-1)?.data).toMatchObject({ status: 'completed', state: { in: `run ${index + 1}` } });
    });
    expect(new Set(all.map((frames) => frames[0]?.data.runId)).size).toBe(10);
  });

  it('K11 a node that says more than any buffer holds loses none of it', async () => {
    const name = unique('k11');
    const steps = range(1, 300).map((n) => ({
      artifact: { artifactId: 'a', append: n > 1, parts: [{ text: `${n} ` }] },
    }));
    await stage.api.save(linear(name, script('a', ...steps, { complete: 'done' })));
    const frames = await (await stream(stage.api.base(name, 'a'), 'go')).all();
    expect(frames.filter(({ data }) => data.result !== undefined && 'artifactUpdate' in data.result)).toHaveLength(300);
    expect(ids(frames)).toEqual(range(1, frames.length));
    const run = await stage.api.ended(await stage.api.start(name));
    expect(run.artifacts.a?.[0]?.parts.map(({ text }) => text).join('')).toBe(
      range(1, 300)
        .map((n) => `${n} `)
        .join(''),
    );
  });

  it('K12 a caller that goes away changes nothing for the run', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds('finished alone'));
    const workflow = await stage.api.save(linear(unique('k12'), external('x', fake.url), output('out')));
    const events = await stage.api.stream(workflow.name);
    const { data } = await events.find(({ event }) => event === 'a2a.sending');
    await fake.sent();
    events.abort();
    expect((await stage.api.run(data.runId)).status).toBe('running');
    fake.release();
    const run = await stage.api.ended(data.runId);
    expect(run.status).toBe('completed');
    expect(textOf(run.result)).toBe('finished alone');
    expect(fake.cancels).toEqual([]);
  });

  it('K12 a caller that drops a blocking SendMessage changes nothing for its Task', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    const workflow = await stage.api.save(linear(unique('k12'), external('x', fake.url)));
    const control = new AbortController();
    const waiting = fetch(stage.api.base(workflow.name), {
      method: 'POST',
      signal: control.signal,
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: sendParams('x') }),
    });
    await fake.sent();
    control.abort();
    await expect(before(waiting)).rejects.toThrow();
    fake.release();
    const { body } = await rpc<{ tasks: Task[] }>(stage.api.base(workflow.name), 'ListTasks', {});
    expect(body.result?.tasks).toHaveLength(1);
    expect((await stage.api.ended(body.result?.tasks[0]?.id ?? '')).status).toBe('completed');
  });

  it('K14 the same external node answers in a run and from outside', async () => {
    const fake = await stage.fake();
    fake.always(answersParts({ text: 'remote' }));
    const workflow = await stage.api.save(linear(unique('k14'), external('x', fake.url)));
    const run = await stage.api.ended(await stage.api.start(workflow.name));
    const task = await sendTask(stage.api.base(workflow.name, 'x'), 'direct');
    expect([textOf(run.artifacts.x), textOf(task.artifacts)]).toEqual(['remote', 'remote']);
    expect(fake.texts).toEqual(['Execute node x', 'direct']);
  });

  it('K15 the card is resolved before every call; unchanged it costs a 304, changed it moves the traffic', async () => {
    const fake = await stage.fake({ cacheControl: 'max-age=0', rpcPath: '/old' });
    fake.always(answers('ok'));
    const workflow = await stage.api.save(linear(unique('k15'), external('a', fake.url), external('b', fake.url)));
    await stage.api.ended(await stage.api.start(workflow.name));
    const order = fake.calls.map(({ httpMethod }) => httpMethod);
    expect(order).toEqual(['GET', 'POST', 'GET', 'POST']);
    expect(fake.cardReads[0]?.path).toBe('/.well-known/agent-card.json');
    expect(fake.cardReads[1]?.headers['if-none-match']).toBeDefined();
    fake.options.rpcPath = '/new';
    await stage.api.ended(await stage.api.start(workflow.name));
    expect(fake.sends.map(({ path }) => path)).toEqual(['/old', '/old', '/new', '/new']);
  });

  it('K15 a card that may be kept is not fetched again', async () => {
    const fake = await stage.fake({ cacheControl: 'max-age=600' });
    fake.always(answers('ok'));
    await stage.api.finish(
      linear(unique('k15'), external('a', fake.url), external('b', fake.url), external('c', fake.url)),
    );
    expect(fake.sends).toHaveLength(3);
    expect(fake.cardReads).toHaveLength(1);
  });
});

import type { JsonObject } from '#libs/protocol';
import { answers, answersParts, ends, holds, when } from '../support/fake-behaviour.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, external, output, type Run, says, script, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage();

type Keys = object;

/** A definition with what its nodes and edges say beyond the usual. */
function language(nodes: Keys[], edges: Keys[], keys: Keys = {}): Workflow {
  return { name: unique('language'), nodes, edges, ...keys } as unknown as Workflow;
}

function between(from: string, to: string, keys: Keys = {}): Keys {
  return { from, to, ...keys };
}

/** What a finished run says of its nodes. */
function statuses({ nodes }: Run): Record<string, string> {
  return Object.fromEntries(Object.entries(nodes).map(([id, { status }]) => [id, status]));
}

async function fakes<Names extends string>(...names: Names[]): Promise<Record<Names, FakeAgent>> {
  const agents = await Promise.all(names.map(async (name) => [name, await stage.fake({ streaming: true })] as const));
  for (const [name, agent] of agents) agent.always(answers(`${name} done`));
  return Object.fromEntries(agents) as Record<Names, FakeAgent>;
}

/**
 * A run of a definition that gives an agent so much time, once that was enough to hear of the agent's Task: a busy machine
 * needs more of it.
 */
async function reachedInTime(id: string, definition: (time: string) => Workflow): Promise<Run> {
  for (let milliseconds = 500; ; milliseconds *= 2) {
    const run = await stage.api.finish(definition(`${milliseconds}ms`));
    if (run.nodes[id]?.taskId !== undefined) return run;
  }
}

const node = (id: string, agent: FakeAgent, keys: Keys = {}, config: JsonObject = {}): Keys => ({
  ...external(id, agent.url, config),
  ...keys,
});

describe('a run that decides', () => {
  it('calls nobody on a branch that was not taken, and the join once', async () => {
    const { a, b, c, join } = await fakes('a', 'b', 'c', 'join');
    a.always(answersParts({ data: { go: 'b' } }));
    const run = await stage.api.finish(
      language(
        [node('a', a), node('b', b), node('c', c), node('join', join)],
        [
          between('a', 'b', { when: "nodes.a.data.go == 'b'" }),
          between('a', 'c', { when: "nodes.a.data.go == 'c'" }),
          between('b', 'join'),
          between('c', 'join'),
        ],
      ),
    );
    expect(run.status).toBe('completed');
    expect(statuses(run)).toEqual({ a: 'completed', b: 'completed', c: 'skipped', join: 'completed' });
    expect([c.sends.length, join.sends.length]).toEqual([0, 1]);
    expect(join.texts).toEqual(['b done']);
  });

  it('2 of 3 run the join, also where the third has failed', async () => {
    const { a, b, c, join } = await fakes('a', 'b', 'c', 'join');
    b.always(ends('TASK_STATE_FAILED', 'boom'));
    const run = await stage.api.finish(
      language(
        [node('a', a), node('b', b), node('c', c), node('join', join, { join: { n: 2 } })],
        ['a', 'b', 'c'].map((id) => between(id, 'join')),
      ),
    );
    expect({ status: run.status, error: run.error }).toEqual({ status: 'completed', error: undefined });
    expect(statuses(run)).toEqual({ a: 'completed', b: 'failed', c: 'completed', join: 'completed' });
    expect(join.sends).toHaveLength(1);
  });

  it('the first of several cancels the rest: CancelTask is sent', async () => {
    const { fast, slow, join } = await fakes('fast', 'slow', 'join');
    slow.always(holds());
    let isKnown = false;
    fast.always(when(() => isKnown, answers('fast done')));
    const { name } = await stage.api.save(
      language(
        [node('fast', fast), node('slow', slow), node('join', join, { join: { n: 1, cancelRest: true } })],
        [between('fast', 'join'), between('slow', 'join')],
      ),
    );
    const runId = await stage.api.start(name);
    await until(async () => (await stage.api.run(runId)).nodes['slow']?.taskId, { what: 'the Task to be known' });
    isKnown = true;
    const run = await stage.api.ended(runId);
    expect(run.status).toBe('completed');
    expect(statuses(run)).toEqual({ fast: 'completed', slow: 'canceled', join: 'completed' });
    await until(() => slow.cancels.length > 0, { what: 'CancelTask' });
    expect(slow.cancels).toEqual(slow.taskIds());
    expect(join.texts).toEqual(['fast done']);
  });

  it('an expression that fails fails its node, and says where', async () => {
    const { a, b } = await fakes('a', 'b');
    const definition = language([node('a', a), node('b', b)], [between('a', 'b', { when: 'nodes.a.data.go' })]);
    const run = await stage.api.finish(definition);
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({
      kind: 'expression',
      node: 'a',
      message: expect.stringContaining('edges[0].when'),
    });
    expect(b.sends).toEqual([]);
  });
});

describe('a run that survives', () => {
  const retry = { attempts: 4, delay: '10ms' };

  it('503, 503, 200: three calls with a Message each', async () => {
    const { a } = await fakes('a');
    a.next({ httpStatus: 503 }, { httpStatus: 503, headers: { 'retry-after': '0' } });
    const run = await stage.api.finish(language([node('a', a, { retry })], []));
    expect(run.status).toBe('completed');
    expect(run.nodes['a']).toMatchObject({ status: 'completed', attempts: 3 });
    const ids = a.sends.map(({ message }) => message?.messageId);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(3);
  });

  it('400: one call', async () => {
    const { a } = await fakes('a');
    a.always({ httpStatus: 400 });
    const run = await stage.api.finish(language([node('a', a, { retry })], []));
    expect(run.error).toMatchObject({ kind: 'client-error', node: 'a' });
    expect(a.sends).toHaveLength(1);
  });

  it('429 with Retry-After: it waits as long', async () => {
    const { a } = await fakes('a');
    a.next({ httpStatus: 429, headers: { 'retry-after': '1' } });
    const frames = await stage.api.trace(language([node('a', a, { retry: { attempts: 2, delay: '0s' } })], []));
    const retrying = frames.find(({ event }) => event === 'node.retrying')?.data;
    expect(retrying?.payload).toMatchObject({ attempt: 1, failure: { kind: 'rate-limited', node: 'a' } });
    const pause = Date.parse(String(retrying?.payload['retryAt'])) - Date.parse(retrying?.timestamp ?? '');
    expect(Math.round(pause / 1_000)).toBe(1);
    expect(frames.at(-1)?.data.payload).toMatchObject({ status: 'completed' });
    expect(a.sends).toHaveLength(2);
  });

  it('an agent that hangs: the timeout of its node', async () => {
    const { a } = await fakes('a');
    a.always(holds());
    const run = await reachedInTime('a', (time) => language([node('a', a, { timeout: time })], []));
    expect(run.error).toMatchObject({ kind: 'timeout', node: 'a' });
    await until(() => a.cancels.length > 0, { what: 'CancelTask' });
    expect(a.taskIds()).toEqual(expect.arrayContaining(a.cancels));
  });

  it('an agent that hangs: the deadline of the run', async () => {
    const { a, b } = await fakes('a', 'b');
    a.always(holds());
    const run = await reachedInTime('a', (time) =>
      language([node('a', a), node('b', b)], [between('a', 'b')], { deadline: time }),
    );
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ kind: 'deadline' });
    expect(statuses(run)).toEqual({ a: 'canceled', b: 'skipped' });
    await until(() => a.cancels.length > 0, { what: 'CancelTask' });
    expect(b.sends).toEqual([]);
  });

  it('an edge for failures, a fallback and a node at the end: each once', async () => {
    const { a, b, catcher, exit } = await fakes('a', 'b', 'catcher', 'exit');
    for (const agent of [a, b]) agent.always(ends('TASK_STATE_FAILED', 'boom'));
    const run = await stage.api.finish(
      language(
        [
          node('a', a),
          node('catcher', catcher, {}, { prompt: 'caught ${nodes.a.error.kind}: ${nodes.a.error.message}' }),
          node('b', b, { fallback: { parts: [{ text: 'instead of ${error.message}' }] } }),
          output('out', { prompt: '{{catcher}}, {{b}}' }),
          node('exit', exit),
          echo('never'),
        ],
        [
          between('a', 'catcher', { on: 'failure', when: "error.kind == 'failed'" }),
          between('catcher', 'out'),
          between('b', 'out'),
        ],
        { language: 2, onExit: [{ node: 'exit' }, { node: 'never', on: 'failure' }] },
      ),
    );
    expect({ status: run.status, error: run.error }).toEqual({ status: 'completed', error: undefined });
    expect(catcher.texts).toEqual([expect.stringMatching(/^caught failed: .*boom$/)]);
    expect(run.state['out']).toMatch(/^catcher done, instead of .*boom$/);
    expect([a, b, catcher, exit].map(({ sends }) => sends.length)).toEqual([1, 1, 1, 1]);
    expect(statuses(run)).toMatchObject({ a: 'failed', b: 'completed', exit: 'completed', never: 'skipped' });
  });

  it('what runs at the end runs after a cancel too', async () => {
    const { a, exit } = await fakes('a', 'exit');
    a.always(holds());
    const definition = await stage.api.save(
      language([node('a', a), node('exit', exit)], [], { onExit: [{ node: 'exit' }] }),
    );
    const runId = await stage.api.start(definition.name);
    await until(() => a.taskIds().length > 0, { what: 'the call of a' });
    const canceled = await stage.api.call('POST', `/runs/${runId}/cancel`);
    expect(canceled.status).toBe(200);
    const run = await stage.api.ended(runId);
    expect(statuses(run)).toEqual({ a: 'canceled', exit: 'completed' });
    expect(exit.sends).toHaveLength(1);
  });

  it('nodes of this service have retry and timeout as those elsewhere', async () => {
    const sleeps = script('slow', { sleep: 60_000 }, { complete: 'late' });
    const fails = script('failing', { fail: 'no luck' });
    const works = script('works', ...says('worked'));
    const run = await stage.api.finish(
      language(
        [
          { ...sleeps, timeout: '300ms', fallback: { parts: [{ text: 'instead' }] } },
          {
            ...fails,
            retry: { attempts: 3, on: ['failed'], delay: '1ms' },
            fallback: { parts: [{ text: 'at last' }] },
          },
          { ...works, timeout: '60s', retry: { attempts: 3 } },
          output('out'),
        ],
        ['slow', 'failing', 'works'].map((id) => between(id, 'out')),
        { parallel: 2 },
      ),
    );
    expect({ status: run.status, error: run.error }).toEqual({ status: 'completed', error: undefined });
    expect(run.state['out']).toBe('instead\n\nat last\n\nworked');
    const attempts = Object.entries(run.nodes).map(([id, it]) => [id, it.attempts]);
    expect(Object.fromEntries(attempts)).toEqual({ slow: 1, failing: 3, works: 1, out: 1 });
  });
});

import { DROPS_FACTS } from '../support/dropped-facts.js';
import { FakeAgent } from '../support/fake-agent.js';
import { after, answers, holds } from '../support/fake-behaviour.js';
import { freshDataDir, freePort, type Parley, postmasters, startParley } from '../support/parley.js';
import { holdHomeLock, sessionProcesses } from '../support/postmaster.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { ids, range } from '../support/sse.js';
import { before, until } from '../support/until.js';
import {
  Api,
  echo,
  external,
  input,
  output,
  ruled,
  type Run,
  script,
  unique,
  type Workflow,
} from '../support/workflow.js';

/** Ten nodes: a chain of four slow externals beside a chain of three slow scripts, joined at the end. */
function tenNodes(url: string): Workflow {
  const slow = (id: string): ReturnType<typeof script> =>
    script(
      id,
      { status: 'working' },
      { sleep: 500 },
      { artifact: { parts: [{ text: `${id} done` }] } },
      { complete: 'done' },
    );
  return {
    name: unique('durable'),
    nodes: [
      input('in'),
      ...range(1, 4).map((n) => external(`e${n}`, url, { prompt: `e${n} of {{in}}` })),
      ...range(1, 3).map((n) => slow(`s${n}`)),
      echo('join', { prompt: '{{e4}} and {{s3}}' }),
      output('out'),
    ],
    edges: [
      ...['in>e1', 'e1>e2', 'e2>e3', 'e3>e4', 'in>s1', 's1>s2', 's2>s3', 'e4>join', 's3>join', 'join>out'].map(
        (edge) => {
          const [from = '', to = ''] = edge.split('>');
          return { from, to };
        },
      ),
    ],
  };
}

/** A service that a test kills, and starts again on the same data at the same port. All facts are dropped. */
class MortalService {
  fake!: FakeAgent;
  parley!: Parley;
  api!: Api;
  private port = 0;

  constructor(private readonly place: () => { dataDir: string } | { databaseUrl: string }) {}

  async begin(): Promise<void> {
    this.fake = await FakeAgent.start({ streaming: true });
    this.port = await freePort();
    await this.start();
  }

  async start(): Promise<void> {
    this.parley = await startParley({ ...this.place(), env: { PORT: String(this.port), ...DROPS_FACTS } });
    this.api = new Api(this.parley.url);
  }

  async end(): Promise<void> {
    await this.fake?.stop();
    await this.parley?.stop();
  }

  /** Reads a run's whole log and checks what every log must keep to. */
  async log(run: Run): Promise<string[]> {
    const frames = await (await this.api.events(run.runId)).all();
    expect(ids(frames)).toEqual(range(1, frames.length));
    expect(frames.at(-1)?.event).toBe('done');
    for (const id of Object.keys(run.nodes)) {
      expect({
        id,
        completed: frames.filter(({ event, data: it }) => event === 'node.completed' && it.node_id === id).length,
      }).toEqual({ id, completed: 1 });
    }
    return frames.map(({ event }) => event ?? '');
  }
}

describe('kill -9 in the middle of a run, and a restart on the same embedded DATA_DIR', () => {
  const data = freshDataDir();
  const service = new MortalService(() => ({ dataDir: data.path }));

  beforeAll(() => service.begin());

  afterAll(async () => {
    await service.end();
    await data.remove();
  });

  it('the run completes, no finished node ran twice, and the event log is 1..n without a gap', async () => {
    const { fake } = service;
    fake.always((call) => ({
      steps: [
        { status: 'TASK_STATE_WORKING' },
        { sleep: 400 },
        { artifact: { parts: [{ text: `did ${call.text}` }] } },
        { status: 'TASK_STATE_COMPLETED' },
      ],
    }));
    const workflow = await service.api.save(tenNodes(fake.url));
    const runId = await service.api.start(workflow.name, { in: 'x' });
    await until(async () => (await service.api.run(runId)).nodes.e2?.status === 'completed', {
      what: 'e2 to complete',
    });
    const finished = Object.entries((await service.api.run(runId)).nodes).filter(
      ([, node]) => node.status === 'completed',
    );
    await service.parley.kill9();
    await service.start();
    const run = await service.api.ended(runId);
    expect(run.status).toBe('completed');
    expect(run.result?.[0]?.parts[0]?.text).toBe('did e4 of x and s3 done');
    expect(Object.values(run.nodes).map(({ status }) => status)).toEqual(Array(10).fill('completed'));
    for (const [id, node] of finished) {
      expect(run.nodes[id]).toEqual(node);
      expect(fake.texts.filter((text) => text === `${id} of x`).length).toBeLessThanOrEqual(1);
    }
    const byNode = range(1, 4).map((n) => fake.sends.filter(({ text }) => text === `e${n} of x`));
    for (const sends of byNode) expect(new Set(sends.map(({ message }) => message?.messageId)).size).toBe(1);
    // A call whose answer nobody had recorded at the kill is made again, as the same Message.
    const finishedCalls = byNode.filter((_sends, index) => finished.some(([id]) => id === `e${index + 1}`));
    expect(finishedCalls.length).toBeGreaterThanOrEqual(2);
    for (const sends of finishedCalls) expect(sends).toHaveLength(1);
    expect(byNode.filter((sends) => sends.length > 1).length).toBeLessThanOrEqual(1);
    await service.log(run);
  });

  it('the embedded database is stopped on a clean exit and used again by the next start', async () => {
    const saved = await service.api.save({ name: unique('embedded'), nodes: [echo('a')], edges: [] });
    expect(postmasters(data.path)).toHaveLength(1);
    expect(await service.parley.stop()).toBe(0);
    expect(postmasters(data.path)).toEqual([]);
    await service.start();
    expect((await service.api.call('GET', `/workflows/${saved.name}`)).status).toBe(200);
  });

  it.each([
    ['the embedded server', (postmaster: number) => postmaster],
    // The server ends with it, since one that recovers by itself may never end that.
    ['a process of the embedded server', (postmaster: number) => sessionProcesses(postmaster)[0]!],
  ])('after kill -9 of %s it is started again, and a run completes', async (_what, victim) => {
    const { fake, parley, api } = service;
    const isReady = async (): Promise<boolean> => (await fetch(`${parley.url}/health/ready`)).ok;
    const runId = await api.start((await api.save(tenNodes(fake.url))).name, { in: 'x' });
    await until(async () => (await api.run(runId)).nodes.e1?.status === 'completed', { what: 'e1 to complete' });
    const [postmaster = 0] = postmasters(data.path);
    const release = await holdHomeLock(data.path);
    try {
      process.kill(victim(postmaster), 'SIGKILL');
      await until(async () => !(await isReady()), { what: 'the service not to be ready' });
    } finally {
      release();
    }
    await until(isReady, { what: 'the service to be ready again' });
    expect(postmasters(data.path)).toEqual([expect.any(Number)]);
    expect(postmasters(data.path)).not.toEqual([postmaster]);
    const run = await api.ended(runId);
    expect(run.status).toBe('completed');
    await service.log(run);
  });
});

describe('kill -9 in the middle of a run, and a restart on the same database', () => {
  let database: TestDatabase;
  const service = new MortalService(() => ({ databaseUrl: database.url }));

  beforeAll(async () => {
    database = await freshDatabase();
    await service.begin();
  });

  afterAll(async () => {
    await service.end();
    await database?.drop();
  });

  it('an external Task that was under way is followed by its id, not sent again', async () => {
    const { fake } = service;
    fake.always(holds('survived'));
    const workflow = await service.api.save({
      name: unique('follow'),
      nodes: [external('x', fake.url, { prompt: 'hold' }), output('out')],
      edges: [{ from: 'x', to: 'out' }],
    });
    const runId = await service.api.start(workflow.name);
    await until(async () => (await service.api.run(runId)).nodes.x?.taskId !== undefined, {
      what: 'the child to be known',
    });
    await service.parley.kill9();
    const earlier = fake.calls.length;
    await service.start();
    const since = () => fake.calls.slice(earlier);
    await until(() => since().some(({ method }) => method === 'SubscribeToTask' || method === 'GetTask'), {
      what: 'the Task to be followed',
    });
    fake.release();
    const run = await service.api.ended(runId);
    expect(run).toMatchObject({ status: 'completed', nodes: { x: { attempts: 1 } } });
    expect(run.result?.[0]?.parts[0]?.text).toBe('survived');
    expect(fake.texts.filter((text) => text === 'hold')).toHaveLength(1);
    await service.log(run);
  });

  it('a dispatch whose answer was never seen is sent again with the same messageId', async () => {
    const plain = await FakeAgent.start();
    plain.next({ hang: true }).always(after(0, answers('second time')));
    const workflow = await service.api.save({ name: unique('again'), nodes: [external('x', plain.url)], edges: [] });
    const runId = await service.api.start(workflow.name);
    await plain.sent();
    await service.parley.kill9();
    await service.start();
    const run = await service.api.ended(runId);
    expect(run.status).toBe('completed');
    expect(plain.sends).toHaveLength(2);
    expect(plain.sends[1]?.message?.messageId).toBe(plain.sends[0]?.message?.messageId);
    await plain.stop();
  });

  it('a reader that comes back after the kill sees the rest, without a gap or a duplicate', async () => {
    const { fake } = service;
    fake.always(holds('done'));
    const workflow = await service.api.save({
      name: unique('reader'),
      nodes: [external('x', fake.url), echo('y')],
      edges: [{ from: 'x', to: 'y' }],
    });
    const stream = await service.api.stream(workflow.name);
    const { data: sending } = await stream.find(({ event }) => event === 'a2a.sending');
    await until(async () => (await service.api.run(sending.runId)).nodes.x?.taskId !== undefined, {
      what: 'the child to be known',
    });
    await service.parley.kill9();
    await before(
      stream.all().catch(() => undefined),
      { what: 'the stream to break' },
    );
    const last = stream.frames.at(-1)?.id ?? '0';
    await service.start();
    const rest = await service.api.events(sending.runId, last);
    fake.release();
    const frames = await rest.all();
    expect(ids([...stream.frames, ...frames])).toEqual(range(1, stream.frames.length + frames.length));
    expect(frames.at(-1)).toMatchObject({ event: 'done', data: { status: 'completed' } });
  });

  it('a run that waits for input still waits after the kill, and the answer reaches its node', async () => {
    const asks = ruled('ask', [
      { when: { turn: 1 }, steps: [{ ask: 'colour?' }] },
      { when: { turn: 2 }, steps: [{ echo: true }, { complete: 'thanks' }] },
    ]);
    const workflow = await service.api.save({
      name: unique('waits'),
      nodes: [asks, output('out')],
      edges: [{ from: 'ask', to: 'out' }],
    });
    const runId = await service.api.start(workflow.name);
    await service.api.reached(runId, ['input-required']);
    await service.parley.kill9();
    await service.start();
    const waiting = await service.api.run(runId);
    expect(waiting.status).toBe('input-required');
    const reply = await fetch(service.api.base(workflow.name), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: 'blue', role: 'ROLE_USER', taskId: runId, parts: [{ text: 'blue' }] } },
      }),
    });
    expect(await reply.json()).toMatchObject({ result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } });
    expect((await service.api.run(runId)).result?.[0]?.parts[0]?.text).toBe('blue');
  });

  it('a scripted Task that the kill cut ends COMPLETED or FAILED within 45 s', async () => {
    const workflow = await service.api.save({
      name: unique('cut'),
      nodes: [script('a', { status: 'working' }, { sleep: 2_000 }, { complete: 'done' })],
      edges: [],
    });
    const response = await fetch(service.api.base(workflow.name, 'a'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: {
          message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] },
          configuration: { returnImmediately: true },
        },
      }),
    });
    const { result } = (await response.json()) as { result: { task: { id: string } } };
    await service.parley.kill9();
    await service.start();
    const ended = await until(
      async () => {
        const read = await fetch(`${service.api.base(workflow.name, 'a')}/tasks/${result.task.id}`, {
          headers: { 'a2a-version': '1.0' },
        });
        const { status } = (await read.json()) as { status: { state: string } };
        return ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED'].includes(status.state) && status.state;
      },
      { what: 'the cut Task to end' },
    );
    expect(ended).toMatch(/COMPLETED|FAILED/);
  });
});

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { message, VERSION } from '../support/a2a.js';
import { testCaller } from '../support/callers.js';
import { deploymentOf, describeWithKustomize, rendered } from '../support/kubernetes/kustomize.js';
import { RolledDeployment } from '../support/kubernetes/rolled-deployment.js';
import { natsOfThisRun, type NatsServer } from '../support/nats-server.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { hasEnded, logProblems, storedLogs } from '../support/stored-log.js';
import { before, until } from '../support/until.js';
import { Api, linear, script, unique } from '../support/workflow.js';

/** Statuses after which a request is sent again with the same key: nothing was done, or the outcome is unknown. */
const AGAIN = [429, 502, 503, 504];

/** Tests with the settings of the manifests. Each replica takes as long as its preStop hook and probes. */
describeWithKustomize('a rolling restart on Kubernetes, with the settings of the manifests', () => {
  const caller = testCaller('ann');
  let database: TestDatabase;
  let nats: NatsServer | undefined;
  let rolled: RolledDeployment;
  let going = true;
  const accepted: { id: string; state: string }[] = [];
  const failures: string[] = [];
  let again = 0;

  beforeAll(async () => {
    [database, nats] = await Promise.all([freshDatabase(), natsOfThisRun()]);
    rolled = await RolledDeployment.start(
      deploymentOf(rendered('overlays/small')),
      {
        'database-url': database.url,
        'credentials-key': randomBytes(32).toString('base64'),
        'api-keys': `ann:${caller.key}`,
        ...(nats && { 'signals-url': nats.url }),
      },
      // What is of a cluster alone: addresses, and folders that an image has.
      { HOST: '127.0.0.1', PORT: '0', DATA_DIR: '/tmp', INTERNAL_URL: 'http://127.0.0.1:9', LOG_LEVEL: 'warn' },
    );
  });

  afterAll(async () => {
    going = false;
    await rolled?.stop();
    await nats?.stop();
    await database?.drop();
  });

  /** Sends a request until it is accepted, each time with the same key. */
  async function send(path: string, body: unknown, key: string): Promise<Response> {
    for (;;) {
      const reply = await fetch(`${rolled.service.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key, ...VERSION, ...caller.headers },
        body: JSON.stringify(body),
      }).catch(() => undefined);
      if (reply && !AGAIN.includes(reply.status)) return reply;
      again += 1;
      await reply?.body?.cancel();
      await delay(50);
    }
  }

  async function blocking(name: string): Promise<void> {
    const reply = await send(`/a2a/workflows/${name}/message:send`, { message: message('x') }, unique('key'));
    const body = (await reply.json()) as { task?: { id: string; status: { state: string } } };
    if (body.task) accepted.push({ id: body.task.id, state: body.task.status.state });
    else failures.push(`${reply.status} ${JSON.stringify(body)}`);
  }

  async function run(name: string): Promise<void> {
    const reply = await send(`/api/workflows/${name}/runs`, { inputs: {} }, unique('key'));
    const body = (await reply.json()) as { runId?: string };
    if (body.runId) accepted.push({ id: body.runId, state: 'TASK_STATE_COMPLETED' });
    else failures.push(`${reply.status} ${JSON.stringify(body)}`);
    await delay(100);
  }

  async function client(task: (name: string) => Promise<void>, name: string): Promise<void> {
    while (going) await task(name).catch((error: Error) => failures.push(`${error.message}: ${String(error.cause)}`));
  }

  it('fails nothing that is sent again under its key, does nothing twice, and kills nobody', async () => {
    const api = new Api(rolled.service.url, caller.headers);
    const [short, chain] = [unique('short'), unique('chain')];
    const slow = (id: string, sleep: number) => script(id, { status: 'working' }, { sleep }, { complete: 'done' });
    await api.save(linear(short, slow('s', 200)));
    await api.save(linear(chain, slow('a', 700), slow('b', 700)));
    const clients = [client(blocking, short), client(blocking, short), client(run, chain), client(run, chain)];
    await rolled.restart();
    going = false;
    await before(Promise.all(clients), { what: 'the clients to end' });
    expect(failures).toEqual([]);
    expect(accepted.length).toBeGreaterThan(20);
    await until(async () => (await storedLogs(database.query)).every(hasEnded), { what: 'every Task to end' });
    const stored = new Map((await storedLogs(database.query)).map((log) => [log.taskId, log]));
    expect(accepted.filter(({ id, state }) => stored.get(id)?.state !== state)).toEqual([]);
    expect([...stored.values()].flatMap(logProblems)).toEqual([]);
    const roots = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM task WHERE agent IN ($1, $2)', [
      `workflows/${short}`,
      `workflows/${chain}`,
    ]);
    expect(roots[0]?.n).toBe(accepted.length);
    expect(rolled.killed).toBe(0);
    process.stderr.write(`rolling restart on Kubernetes: ${accepted.length} accepted, ${again} sent again\n`);
  });
});

import { FakeAgent } from '../support/fake-agent.js';
import { holds } from '../support/fake-behaviour.js';
import { describeWithNats, NATS_PASSWORD, NatsServer } from '../support/nats-server.js';
import type { Parley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { ReplicaCluster } from '../support/replica-cluster.js';
import { metric } from '../support/service-metrics.js';
import { ids, range } from '../support/sse.js';
import { hasEnded, logProblems, storedLogs } from '../support/stored-log.js';
import { until } from '../support/until.js';
import { Api, external, linear, output, unique } from '../support/workflow.js';

interface Ready {
  status: string;
  details: { signals?: { status: string; degraded?: boolean; message?: string } };
}

describeWithNats('replicas that signal each other over NATS', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let cluster: ReplicaCluster;
  let fake: FakeAgent;
  let all: Parley[];

  beforeAll(async () => {
    [nats, database, fake] = await Promise.all([
      NatsServer.stopped(),
      freshDatabase(),
      FakeAgent.start({ streaming: true }),
    ]);
    const env = { SIGNALS_URL: nats.url, LOG_LEVEL: 'debug' };
    cluster = await ReplicaCluster.start(database, { replicas: 3, env });
    all = [...cluster.replicas];
  });

  afterAll(async () => {
    await cluster?.stop();
    await nats?.stop();
    await fake?.stop();
    await database?.drop();
  });

  const at = (index: number): Api => new Api(cluster.replicas[index]!.url);

  /** Waits until a replica is ready: on a busy machine one of its checks may take too long once. */
  async function signalsAt({ url }: Parley): Promise<Ready['details']['signals']> {
    const ready = async (): Promise<Ready | false> => {
      const response = await fetch(`${url}/health/ready`);
      return response.status === 200 && ((await response.json()) as Ready);
    };
    const { status, details } = await until(ready, { what: `${url} to be ready` });
    expect(status).toBe('ok');
    return details.signals;
  }

  async function degraded(is: boolean): Promise<void> {
    for (const replica of cluster.replicas) {
      const changed = async (): Promise<boolean> => ((await signalsAt(replica))?.degraded === true) === is;
      await until(changed, { what: `signals at ${replica.url} to be ${is ? 'degraded' : 'well'}` });
    }
  }

  /**
   * Starts a run at one replica and reads it live at another one. `meanwhile` is called when the run's agent has been
   * called.
   */
  async function readElsewhere(meanwhile: (runId: string) => unknown = () => undefined): Promise<void> {
    fake.always(holds('seen from afar'));
    const sends = fake.sends.length;
    const { name } = await at(0).save(linear(unique('nats'), external('x', fake.url), output('out')));
    const runId = await at(0).start(name);
    const reader = await at(1).events(runId);
    await reader.find(({ event, data }) => event === 'a2a.sending' && data.node_id === 'x');
    await until(() => fake.sends.length === sends + 1, { what: 'the call' });
    await meanwhile(runId);
    fake.release();
    const frames = await reader.all();
    expect(ids(frames)).toEqual(range(1, frames.length));
    expect(frames.at(-1)?.data).toMatchObject({ status: 'completed', state: { x: 'seen from afar' } });
    expect(fake.sends).toHaveLength(sends + 1);
  }

  it('start without it, say so, and lose nothing', async () => {
    await degraded(true);
    expect(await signalsAt(cluster.replicas[0]!)).toEqual({
      status: 'up',
      degraded: true,
      message: 'NATS is out of reach: replicas poll instead, with a delay of about a second',
    });
    await readElsewhere();
  });

  it('use it as soon as it is there', async () => {
    await nats.restart();
    await degraded(false);
    await readElsewhere();
    const progress = () => metric(cluster.replicas[1]!, 'parley_signals_received_total', 'topic="task_progress"');
    await until(async () => (await progress()) > 0, { what: 'signals of the other replica' });
    const sessions = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ ':(notify|signals)$'`;
    expect(await database.query(sessions)).toEqual([]);
  });

  it('lose nothing when it dies in the middle of a run, nor when a replica dies while it is away, and recover', async () => {
    await readElsewhere(async (runId) => {
      await nats.stop();
      await degraded(true);
      await cluster.kill(await cluster.owned(runId));
    });
    await nats.restart();
    await degraded(false);
    await readElsewhere();
    await until(async () => (await storedLogs(database.query)).every(hasEnded), { what: 'every Task to end' });
    expect((await storedLogs(database.query)).flatMap(logProblems)).toEqual([]);
  });

  it('have told nobody the password', async () => {
    const secrets = [NATS_PASSWORD, encodeURIComponent(NATS_PASSWORD)];
    for (const replica of all) {
      expect(replica.logs()).toContain('(NATS) is lost; reconnecting');
      for (const secret of secrets) expect(replica.logs()).not.toContain(secret);
      if (replica.running()) expect(await (await fetch(`${replica.url}/health/ready`)).text()).not.toContain('@');
    }
  });
});

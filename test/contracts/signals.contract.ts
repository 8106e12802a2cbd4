import {
  ChannelSignals,
  Database,
  NO_KEY,
  POSTGRES_MIGRATIONS,
  REPLICA_LEFT,
  ReplicaLife,
  type SignalSubscription,
  type SignalWire,
} from '#libs/postgres';
import { Metrics } from '#libs/service';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

const TOPIC = { name: 'thing', shards: 16 };

/** What carries the signals of a test, and how it breaks. */
export interface TestedWire {
  wireOf(database: Database): SignalWire;
  /** Breaks every session that hears; new ones may be had at once. */
  cut(server: TestDatabase): Promise<unknown>;
  /** Breaks every session, and lets nobody in. */
  away(server: TestDatabase): Promise<unknown>;
  /** Lets everybody in again. */
  back(server: TestDatabase): Promise<unknown>;
}

/** A replica that hears and sends. */
interface Replica {
  life: ReplicaLife;
  signals: ChannelSignals;
  metrics: Metrics;
  database: Database;
  /** The keys that woke it. */
  woken: string[];
  /** How often it was told to catch up. */
  caughtUp(): number;
  watching: SignalSubscription;
}

/** What ReplicaSignals promises, whatever carries them. */
export function signalsContract(wire: TestedWire): void {
  let server: TestDatabase;
  const replicas: Replica[] = [];
  let one: Replica;
  let two: Replica;
  let three: Replica;

  beforeAll(async () => {
    server = await freshDatabase({ empty: true });
    one = await replica();
  });

  afterAll(async () => {
    for (const it of replicas) {
      await leave(it);
      await it.database.close();
    }
    await server.drop();
  });

  it('sends nothing while it is alone', async () => {
    one.signals.sendSignal(TOPIC, 'a');
    await one.database.ping();
    expect(await value(one, 'parley_signals_sent_total{topic="thing"}')).toBe(0);
    expect(
      await server.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%:notify'`,
      ),
    ).toEqual([]);
    [two, three] = [await replica(), await replica()];
    expect(three.life.peers).toBe(2);
    await until(() => replicas.every(({ life }) => life.peers === 2), { what: 'the replicas to know of each other' });
  });

  it('wakes the other replicas that watch the key, and never its sender', async () => {
    for (const it of [one, two]) await hears(it, 'a');
    one.signals.sendSignal(TOPIC, 'a');
    await until(() => two.woken.length === 1, { what: 'the signal' });
    // What came back to the sender, and what came to those who do not watch, would have come by now.
    two.signals.sendSignal(TOPIC, 'a');
    await until(() => one.woken.length === 1, { what: 'the answer' });
    expect([one.woken, two.woken, three.woken]).toEqual([['a'], ['a'], []]);
    expect(await value(one, 'parley_signals_sent_total{topic="thing"}')).toBe(1);
    expect(await value(two, 'parley_signals_received_total{topic="thing"}')).toBe(1);
    expect(await value(three, 'parley_signals_received_total{topic="thing"}')).toBe(0);
    expect(replicas.map(({ signals }) => signals.trouble)).toEqual([undefined, undefined, undefined]);
  });

  it('carries more keys than one payload takes', async () => {
    const keys = Array.from({ length: 3_000 }, (_, index) => `${index}-`.padEnd(36, 'x'));
    for (const key of keys) three.watching.watchKey(key);
    await until(() => three.caughtUp() > 0, { what: 'the channels to be heard, all at once' });
    for (const key of keys) one.signals.sendSignal(TOPIC, key);
    await until(() => three.woken.length === keys.length, { what: 'every key' });
    expect(three.woken.toSorted()).toEqual(keys.toSorted());
  });

  it('hears again after its session was cut, and says that something may have been missed', async () => {
    const before = two.caughtUp();
    await wire.cut(server);
    await until(() => two.caughtUp() > before, { what: 'the new session' });
    await wakes(two, 'a');
    expect(await value(two, 'parley_signal_reconnects_total')).toBe(1);
  });

  it('tries until it is let in again, says so meanwhile, and sends again after it could not', async () => {
    const before = two.caughtUp();
    await wire.away(server);
    one.signals.sendSignal(TOPIC, 'a');
    await until(async () => (await value(two, 'parley_signal_reconnects_total')) === 2, { what: 'the loss' });
    expect(two.caughtUp()).toBe(before);
    expect(two.signals.trouble).toMatch(/^(PostgreSQL|NATS) is out of reach: /);
    await wire.back(server);
    await until(() => two.caughtUp() > before, { what: 'the new session' });
    expect(two.signals.trouble).toBeUndefined();
    await wakes(two, 'a');
  });

  it('says when a replica leaves, after its life has ended', async () => {
    let gone: Promise<string[]> | undefined;
    let heard = false;
    const wake = (): void => void (gone ??= two.life.deadReplicas());
    two.signals.subscribeTopic(REPLICA_LEFT, { wakeFor: wake, catchUp: () => (heard = true) }).watchKey(NO_KEY);
    await until(() => heard, { what: 'the channel to be heard' });
    await leave(one);
    expect(await until(() => gone)).toContain(one.life.replicaId);
  });

  async function replica(): Promise<Replica> {
    const database = await Database.connectAndMigrate({ url: server.url, migrations: POSTGRES_MIGRATIONS });
    const life = new ReplicaLife(database);
    await life.beginLife();
    const metrics = new Metrics();
    const signals = new ChannelSignals(wire.wireOf(database), life, metrics);
    const woken: string[] = [];
    let caughtUp = 0;
    const watching = signals.subscribeTopic(TOPIC, {
      wakeFor: (key) => woken.push(key),
      catchUp: () => (caughtUp += 1),
    });
    const made = { life, signals, metrics, database, woken, watching, caughtUp: () => caughtUp };
    replicas.push(made);
    return made;
  }

  async function leave({ life, signals }: Replica): Promise<void> {
    await life.endLife();
    await signals.endSignals();
  }

  /** Another replica sends the key, again and again, until the replica is woken: the sender may have lost its session. */
  async function wakes(it: Replica, key: string): Promise<void> {
    const before = it.woken.length;
    const sent = (): boolean => {
      one.signals.sendSignal(TOPIC, key);
      return it.woken.length > before;
    };
    await until(sent, { what: `${key} to wake` });
  }
}

/** Watches a key on a channel that the replica does not hear yet. */
async function hears(it: Replica, key: string): Promise<void> {
  const before = it.caughtUp();
  it.watching.watchKey(key);
  await until(() => it.caughtUp() > before, { what: `${key} to be heard` });
}

async function value({ metrics }: Replica, name: string): Promise<number> {
  const line = (await metrics.readExposition()).split('\n').find((it) => it.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? 0);
}

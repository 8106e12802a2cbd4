import { NatsWire, PostgresWire } from '#libs/postgres';
import { signalsContract } from '../../contracts/signals.contract.js';
import { allowConnections, endSessions } from '../../support/database-faults.js';
import { until } from '../../support/until.js';
import { describeWithNats, NatsServer } from '../../support/nats-server.js';

describe('signals over PostgreSQL', () => {
  signalsContract({
    wireOf: (database) => new PostgresWire(database),
    cut: async (server) => expect(await endSessions(server, 'signals')).toBe(3),
    away: async (server) => {
      await allowConnections(server, false);
      await endSessions(server, 'signals');
      await endSessions(server, 'notify');
    },
    back: (server) => allowConnections(server, true),
  });
});

describeWithNats('signals over NATS', () => {
  let nats: NatsServer;
  beforeAll(async () => {
    nats = await NatsServer.start();
  });
  afterAll(() => nats.stop());
  const cut = async (): Promise<void> => {
    await nats.stop();
    await nats.restart();
  };

  signalsContract({
    wireOf: () => new NatsWire(nats.url, 'tested'),
    cut,
    away: () => nats.stop(),
    back: () => nats.restart(),
  });

  it('notices a server that stands still, and cannot be sent to', async () => {
    const wire = new NatsWire(nats.url, 'frozen');
    const [ended, heard] = [Promise.withResolvers<unknown>(), Promise.withResolvers<string | undefined>()];
    const other = await new NatsWire(nats.url, 'frozen').openSession({
      notified: (_channel, payload) => heard.resolve(payload),
      ended: () => undefined,
    });
    const session = await wire.openSession({ notified: () => undefined, ended: ended.resolve });
    await other.changeChannels(['parley_thing'], []);
    await wire.sendPayloads(['parley_thing'], ['["me","a"]']);
    expect(await heard.promise).toBe('["me","a"]');
    nats.freeze();
    try {
      const refused = (): Promise<string | false> =>
        wire.sendPayloads(['parley_thing'], ['["me","b"]']).then(
          () => false as const,
          (error: Error) => error.message,
        );
      expect(await until(refused, { what: 'a signal that is not sent' })).toMatch(/does not answer|no connection/);
      expect(await ended.promise).toBeInstanceOf(Error);
    } finally {
      nats.thaw();
    }
    await session.endSession();
    await other.endSession();
  });

  it('hears only those of its own database', async () => {
    const [heard, elsewhere]: (string | undefined)[][] = [[], []];
    const into = (payloads: (string | undefined)[]) => ({
      notified: (_: string, payload: string | undefined) => payloads.push(payload),
      ended: () => undefined,
    });
    const wireOf = (scope: string): NatsWire => new NatsWire(nats.url, scope);
    const [own, foreign] = [wireOf('own'), wireOf('foreign')];
    const listeners = [
      await wireOf('own').openSession(into(heard!)),
      await wireOf('foreign').openSession(into(elsewhere!)),
    ];
    for (const it of listeners) await it.changeChannels(['parley_thing'], []);
    const senders = await Promise.all([own, foreign].map((it) => it.openSession(into([]))));
    await foreign.sendPayloads(['parley_thing'], ['theirs']);
    await until(() => elsewhere!.length > 0, { what: 'the signal of the other database' });
    await own.sendPayloads(['parley_thing'], ['ours']);
    await until(() => heard!.length > 0, { what: 'the signal of the own database' });
    expect(heard).toEqual(['ours']);
    await Promise.all([...listeners, ...senders].map((it) => it.endSession()));
  });

  it('says what is wrong without the password', async () => {
    const { port } = new URL(nats.url);
    const wire = new NatsWire(`nats://parley:wrong-secret@127.0.0.1:${port}`, 'tested');
    const refused = await wire
      .openSession({ notified: () => undefined, ended: () => undefined })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Error);
    expect(JSON.stringify(refused, Object.getOwnPropertyNames(refused))).not.toContain('wrong-secret');
  });
});

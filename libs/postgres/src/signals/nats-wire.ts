import { setTimeout as delay } from 'node:timers/promises';
import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import type { SignalWire, WireEvents, WireSession } from './signal-wire.js';

const CONNECT_MS = 5_000;
/** Milliseconds between two pings. A vanished server is noticed after two unanswered pings. */
const PING_MS = 3_000;
const MAX_PINGS_OUT = 2;
/** Maximum milliseconds of a reachable server for one answer. */
const ANSWER_MS = 2_000;

/** Carries signals over NATS: one connection sends and receives. Signals without a receiver are not stored. */
export class NatsWire implements SignalWire {
  readonly name = 'NATS';
  private readonly options: NodeConnectionOptions;
  private connection: NatsConnection | undefined;

  /**
   * @param url one `nats://` or `tls://` URL, or several of one cluster, separated by commas
   * @param scope name that only the replicas on one database share; letters, digits and hyphens
   */
  constructor(
    url: string,
    private readonly scope: string,
  ) {
    this.options = {
      ...connectionOf(url),
      name: `parley:${process.pid}`,
      // SignalListener reconnects: it knows the wanted channels, and which handlers must catch up.
      reconnect: false,
      noEcho: true,
      timeout: CONNECT_MS,
      pingInterval: PING_MS,
      maxPingOut: MAX_PINGS_OUT,
    };
  }

  async openSession({ notified, ended }: WireEvents): Promise<WireSession> {
    // Load the client only if NATS is used.
    const { connect } = await import('@nats-io/transport-node');
    const connection = await connect(this.options);
    this.connection = connection;
    void connection.closed().then((error) => {
      if (this.connection === connection) this.connection = undefined;
      ended(error ?? new Error('The connection ended'));
    });
    return this.makeSession(connection, notified);
  }

  async sendPayloads(channels: readonly string[], payloads: readonly string[]): Promise<void> {
    const { connection } = this;
    if (connection === undefined) throw new Error('There is no connection to NATS');
    channels.forEach((channel, index) => connection.publish(this.subjectOf(channel), payloads[index]));
    await untilAnswered(connection);
  }

  private makeSession(connection: NatsConnection, notified: WireEvents['notified']): WireSession {
    const subscriptions = new Map<string, { unsubscribe(): void }>();
    return {
      changeChannels: async (fresh, stale) => {
        for (const channel of stale) subscriptions.get(channel)?.unsubscribe();
        for (const channel of fresh) {
          const callback = (error: Error | null, message: { string(): string }): void => {
            if (!error) notified(channel, message.string());
          };
          subscriptions.set(channel, connection.subscribe(this.subjectOf(channel), { callback }));
        }
        await untilAnswered(connection);
      },
      endSession: () => connection.close().catch(() => undefined),
    };
  }

  private subjectOf(channel: string): string {
    return `parley.${this.scope}.${channel}`;
  }
}

/** Resolves once the server has processed everything that was sent. */
async function untilAnswered(connection: NatsConnection): Promise<void> {
  const over = new AbortController();
  const late = delay(ANSWER_MS, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error('NATS does not answer');
  });
  try {
    await Promise.race([connection.flush(), late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}

/** Separates the credentials from the address, so that no message of the client contains a secret. */
function connectionOf(url: string): NodeConnectionOptions {
  const urls = url.split(',').map((it) => new URL(it.trim()));
  const [first] = urls as [URL, ...URL[]];
  const [user, pass] = [decodeURIComponent(first.username), decodeURIComponent(first.password)];
  return {
    servers: urls.map(({ host }) => host),
    ...(urls.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
    ...(pass !== '' ? { user, pass } : user !== '' && { token: user }),
  };
}

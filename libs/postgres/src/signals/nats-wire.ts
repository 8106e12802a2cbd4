import { setTimeout as delay } from 'node:timers/promises';
import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import type { SignalWire, WireEvents, WireSession } from './signal-wire.js';

const CONNECT_MS = 5_000;
/** A server that is gone without a word is noticed after two of these without an answer. */
const PING_MS = 3_000;
const MAX_PINGS_OUT = 2;
/** What a server that is there may take for one answer. */
const ANSWER_MS = 2_000;

/** Signals over NATS: one connection hears and sends. What nobody hears at the moment is not kept there. */
export class NatsWire implements SignalWire {
  readonly name = 'NATS';
  private readonly options: NodeConnectionOptions;
  private connection: NatsConnection | undefined;

  /**
   * @param url one `nats://` or `tls://` URL, or several of one cluster, separated by commas
   * @param scope what replicas on one database share and others do not have; letters, digits and hyphens
   */
  constructor(
    url: string,
    private readonly scope: string,
  ) {
    this.options = {
      ...connectionOf(url),
      name: `parley:${process.pid}`,
      // It is the listener that tries again: it knows what is to be heard, and tells whoever must catch up.
      reconnect: false,
      noEcho: true,
      timeout: CONNECT_MS,
      pingInterval: PING_MS,
      maxPingOut: MAX_PINGS_OUT,
    };
  }

  async open({ notified, ended }: WireEvents): Promise<WireSession> {
    // Who has no NATS does not load its client.
    const { connect } = await import('@nats-io/transport-node');
    const connection = await connect(this.options);
    this.connection = connection;
    void connection.closed().then((error) => {
      if (this.connection === connection) this.connection = undefined;
      ended(error ?? new Error('The connection ended'));
    });
    return this.session(connection, notified);
  }

  async send(channels: readonly string[], payloads: readonly string[]): Promise<void> {
    const { connection } = this;
    if (connection === undefined) throw new Error('There is no connection to NATS');
    channels.forEach((channel, index) => connection.publish(this.subject(channel), payloads[index]));
    await answered(connection);
  }

  private session(connection: NatsConnection, notified: WireEvents['notified']): WireSession {
    const subscriptions = new Map<string, { unsubscribe(): void }>();
    return {
      listen: async (fresh, stale) => {
        for (const channel of stale) subscriptions.get(channel)?.unsubscribe();
        for (const channel of fresh) {
          const callback = (error: Error | null, message: { string(): string }): void => {
            if (!error) notified(channel, message.string());
          };
          subscriptions.set(channel, connection.subscribe(this.subject(channel), { callback }));
        }
        await answered(connection);
      },
      end: () => connection.close().catch(() => undefined),
    };
  }

  private subject(channel: string): string {
    return `parley.${this.scope}.${channel}`;
  }
}

/** Resolves when the server has taken all that was sent to it. */
async function answered(connection: NatsConnection): Promise<void> {
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

/** The client is told who calls apart from where to, so that no text of its own names a secret. */
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

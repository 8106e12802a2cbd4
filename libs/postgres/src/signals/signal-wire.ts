import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import type pg from 'pg';
import { withinTime } from '#libs/service';
import { SESSION_SETTINGS } from '../database/connection-options.js';
import type { Database } from '../database/database.js';

/** Callbacks for the events of a session. */
export interface WireEvents {
  readonly notified: (channel: string, payload: string | undefined) => void;
  /** Reports the end of the session, at most once. */
  readonly ended: (error: unknown) => void;
}

/** Session that receives signals on channels. */
export interface WireSession {
  /** Subscribes to the fresh channels and unsubscribes from the stale ones; rejects if the session is unusable. */
  changeChannels(fresh: readonly string[], stale: readonly string[]): Promise<void>;
  /** Ends the session. Never rejects. */
  endSession(): Promise<void>;
}

/** Transport of signals among replicas. It may lose signals, and need not store them. */
export interface SignalWire {
  /** Name of the transport, for logs and health reports. */
  readonly name: string;
  /** Opens a session. @throws if no session can be opened */
  openSession(events: WireEvents): Promise<WireSession>;
  /** Sends one payload on each of the channels. Rejects if they are not sent. */
  sendPayloads(channels: readonly string[], payloads: readonly string[]): Promise<unknown>;
  /**
   * Calls the listener when a failover may have happened, so that existing sessions may lead to a replaced server and
   * should be replaced. Absent: the transport has no failover of this kind.
   */
  onRenewal?(listener: () => void): void;
}

const CONNECT_MS = 5_000;
/** Milliseconds between two pings. A vanished server is noticed after two unanswered pings. */
const PING_MS = 3_000;
const MAX_PINGS_OUT = 2;
/** Milliseconds without an answer before the server counts as unreachable. */
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

/**
 * Resolves once the server has processed everything that was sent.
 * @throws Error if it does not answer within ANSWER_MS
 */
async function untilAnswered(connection: NatsConnection): Promise<void> {
  const answered = connection.flush().then(() => true);
  if (!(await withinTime(answered, ANSWER_MS))) throw new Error('NATS does not answer');
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

/**
 * Carries signals over LISTEN and NOTIFY.
 *
 * NOTIFY takes a database-wide lock until its transaction has committed. As a part of the transactions that signals
 * announce, NOTIFY would serialize all commits. It therefore follows in a transaction and a session of its own. A
 * NOTIFY wakes every listening session, but only the sessions of its channel receive it.
 */
export class PostgresWire implements SignalWire {
  readonly name = 'PostgreSQL';
  private readonly pool: pg.Pool;

  constructor(private readonly database: Database) {
    // Signals need no durability: a commit lost in a crash announced nothing that is not found otherwise.
    this.pool = database.tunedPool('notify', 1, { synchronous_commit: 'off' });
  }

  /**
   * Opens a session over a direct connection, or over a pooler that pools by session: behind a transaction pooler
   * LISTEN receives nothing.
   */
  async openSession({ notified, ended }: WireEvents): Promise<WireSession> {
    const client = this.database.createSession('signals');
    client.on('notification', ({ channel, payload }) => notified(channel, payload));
    // Not on `error`, which a cut session emits twice.
    client.once('end', () => ended(new Error('The session ended')));
    try {
      await client.connect();
      await client.query(SESSION_SETTINGS);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    return {
      changeChannels: async (fresh, stale) => {
        await client.query([...fresh.map((it) => `LISTEN ${it}`), ...stale.map((it) => `UNLISTEN ${it}`)].join('; '));
      },
      endSession: () => client.end().catch(() => undefined),
    };
  }

  sendPayloads(channels: readonly string[], payloads: readonly string[]): Promise<unknown> {
    return this.pool.query({ name: 'notify', text: NOTIFY, values: [channels, payloads] });
  }

  onRenewal(listener: () => void): void {
    this.database.onSessionsRenewed(listener);
  }
}

const NOTIFY = 'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS signal (channel, payload)';

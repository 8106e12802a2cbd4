import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../database/database.js';
import { Metrics } from '#libs/service';
import { ReplicaLife } from '../replica/replica-life.js';
import {
  NO_KEY,
  REPLICA_LEFT,
  ReplicaSignals,
  type SignalHandler,
  type SignalSubscription,
  type SignalTopic,
} from './replica-signals.js';
import { channelOf, readPayload } from './signal-channel.js';
import { SignalListener } from './signal-listener.js';
import { SignalSender } from './signal-sender.js';

/** A channel that nobody watches any more is heard for so long: the next one to watch it need not ask for it. */
const LINGER_MS = 30_000;

interface Channel {
  topic: SignalTopic;
  watchers: number;
  lingering?: NodeJS.Timeout;
}

/**
 * ReplicaSignals over LISTEN and NOTIFY.
 *
 * NOTIFY takes a lock over the whole database until its transaction has committed, so it is never part of the
 * transaction it tells of, where it would put all commits in a row: it follows on a session of its own, at most a
 * hundred times a second. A NOTIFY wakes every session that listens at all, and is sent to those that hear its channel;
 * shards keep the others from reading what they do not want. While no other replica lives nothing is sent: what that
 * costs is one comparison. A replica that has just started is seen with the next heartbeat (two seconds).
 */
@Injectable()
export class PostgresSignals extends ReplicaSignals {
  private readonly logger = new Logger(PostgresSignals.name);
  private readonly handlers = new Map<string, { topic: SignalTopic; handler: SignalHandler }[]>();
  private readonly channels = new Map<string, Channel>();
  private readonly sender: SignalSender;
  private readonly listener: SignalListener;
  private readonly sent;
  private readonly received;
  private readonly losses;

  constructor(
    database: Database,
    private readonly replica: ReplicaLife,
    metrics: Metrics,
  ) {
    super();
    this.sent = metrics.counter('parley_signals_sent_total', 'Signals to other replicas', ['topic']);
    this.received = metrics.counter('parley_signals_received_total', 'Signals of other replicas', ['topic']);
    this.losses = metrics.counter('parley_signal_reconnects_total', 'Times that the session for signals was lost');
    // Nothing to be kept: a commit that a crash loses told of nothing that is not found otherwise.
    const pool = database.tunedPool('notify', 1, { synchronous_commit: 'off' });
    this.sender = new SignalSender(
      replica.replicaId,
      (channels, payloads) => pool.query({ name: 'notify', text: NOTIFY, values: [channels, payloads] }),
      (error) => this.logger.debug({ err: error }, 'Signals to other replicas were not sent'),
    );
    this.listener = new SignalListener(() => database.session('signals'), {
      notified: (channel, payload) => this.notified(channel, payload),
      listening: (listened) => this.catchUp(listened),
      lost: (error) => this.lost(error),
    });
    database.onSessionsRenewed(() => this.listener.renew());
  }

  send(topic: SignalTopic, key: string): void {
    if (this.replica.peers === 0) return;
    this.sent.inc({ topic: topic.name });
    this.sender.send(channelOf(topic, key), key);
  }

  subscribe(topic: SignalTopic, handler: SignalHandler): SignalSubscription {
    this.handlers.set(topic.name, [...(this.handlers.get(topic.name) ?? []), { topic, handler }]);
    return {
      watch: (key) => this.watch(topic, channelOf(topic, key)),
      unwatch: (key) => this.unwatch(channelOf(topic, key)),
    };
  }

  /** Says that this replica has left, and stops. To be called once its life has ended. */
  async end(): Promise<void> {
    for (const { lingering } of this.channels.values()) clearTimeout(lingering);
    await this.listener.end();
    this.send(REPLICA_LEFT, NO_KEY);
    await this.sender.flush();
  }

  private watch(topic: SignalTopic, name: string): void {
    const channel = this.channels.get(name) ?? { topic, watchers: 0 };
    channel.watchers += 1;
    clearTimeout(channel.lingering);
    channel.lingering = undefined;
    this.channels.set(name, channel);
    this.listener.listen(name);
  }

  private unwatch(name: string): void {
    const channel = this.channels.get(name);
    if (!channel) return;
    channel.watchers -= 1;
    if (channel.watchers > 0) return;
    channel.lingering = setTimeout(() => {
      this.channels.delete(name);
      this.listener.unlisten(name);
    }, LINGER_MS).unref();
  }

  private notified(name: string, payload: string | undefined): void {
    const channel = this.channels.get(name);
    const signal = readPayload(payload);
    if (!channel || !signal || signal.sender === this.replica.replicaId) return;
    this.received.inc({ topic: channel.topic.name }, signal.keys.length);
    for (const { handler } of this.handlers.get(channel.topic.name) ?? []) {
      for (const key of signal.keys) handler.wake(key);
    }
  }

  private catchUp(listened: readonly string[]): void {
    const topics = new Set(listened.map((name) => this.channels.get(name)?.topic.name));
    for (const topic of topics) for (const { handler } of this.handlers.get(topic ?? '') ?? []) handler.catchUp();
  }

  private lost(error: unknown): void {
    this.losses.inc();
    this.logger.warn({ err: error }, 'The session that hears other replicas is lost; it is tried again');
  }
}

const NOTIFY = 'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS signal (channel, payload)';

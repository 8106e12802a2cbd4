import { Logger } from '@nestjs/common';
import type { Metrics } from '#libs/service';
import type { ReplicaLife } from '../replica/replica-life.js';
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
import type { SignalWire } from './signal-wire.js';

/** Milliseconds for which an unwatched channel stays subscribed, so that its next watcher needs no new subscription. */
const LINGER_MS = 30_000;

interface Channel {
  topic: SignalTopic;
  watchers: number;
  lingering?: NodeJS.Timeout;
}

/**
 * Implements ReplicaSignals over any transport with channels.
 * - Keys are spread over the channels of their topic, so that a replica receives few signals that it does not watch.
 * - At most a hundred sends per second, and none while no other replica lives: the cost is one comparison.
 * - A replica that has just started is noticed with the next heartbeat (two seconds).
 */
export class ChannelSignals extends ReplicaSignals {
  private readonly logger = new Logger(ReplicaSignals.name);
  private readonly handlers = new Map<string, { topic: SignalTopic; handler: SignalHandler }[]>();
  private readonly channels = new Map<string, Channel>();
  private readonly sender: SignalSender;
  private readonly listener: SignalListener;
  private readonly sent;
  private readonly received;
  private readonly losses;

  constructor(
    private readonly wire: SignalWire,
    private readonly replica: ReplicaLife,
    metrics: Metrics,
  ) {
    super();
    this.sent = metrics.counter('parley_signals_sent_total', 'Signals to other replicas', ['topic']);
    this.received = metrics.counter('parley_signals_received_total', 'Signals of other replicas', ['topic']);
    this.losses = metrics.counter('parley_signal_reconnects_total', 'Times that the session for signals was lost');
    this.sender = new SignalSender(
      replica.replicaId,
      (channels, payloads) => wire.sendPayloads(channels, payloads),
      (error) => this.logger.debug({ err: error }, 'Signals to other replicas were not sent'),
    );
    this.listener = new SignalListener((events) => wire.openSession(events), {
      onNotified: (channel, payload) => this.receivePayload(channel, payload),
      onListening: (listened) => this.catchUp(listened),
      onLost: (error) => this.reportLoss(error),
    });
    wire.onRenewal?.(() => this.listener.renewSession());
  }

  /** Public reason why signals of other replicas are not received; `undefined` while they are. */
  get trouble(): string | undefined {
    if (!this.listener.troubled) return undefined;
    return `${this.wire.name} is out of reach: what other replicas do is looked for instead, within about a second`;
  }

  sendSignal(topic: SignalTopic, key: string): void {
    if (this.replica.peers === 0) return;
    this.sent.inc({ topic: topic.name });
    this.sender.queueSignal(channelOf(topic, key), key);
  }

  subscribeTopic(topic: SignalTopic, handler: SignalHandler): SignalSubscription {
    this.handlers.set(topic.name, [...(this.handlers.get(topic.name) ?? []), { topic, handler }]);
    return {
      watchKey: (key) => this.watchChannel(topic, channelOf(topic, key)),
      unwatchKey: (key) => this.unwatchChannel(channelOf(topic, key)),
    };
  }

  /** Announces that this replica has left, and stops. Call it once the replica's life has ended. */
  async endSignals(): Promise<void> {
    for (const { lingering } of this.channels.values()) clearTimeout(lingering);
    this.sendSignal(REPLICA_LEFT, NO_KEY);
    await this.sender.sendRemaining();
    await this.listener.endListening();
  }

  private watchChannel(topic: SignalTopic, name: string): void {
    const channel = this.channels.get(name) ?? { topic, watchers: 0 };
    channel.watchers += 1;
    clearTimeout(channel.lingering);
    channel.lingering = undefined;
    this.channels.set(name, channel);
    this.listener.listenTo(name);
  }

  private unwatchChannel(name: string): void {
    const channel = this.channels.get(name);
    if (!channel) return;
    channel.watchers -= 1;
    if (channel.watchers > 0) return;
    channel.lingering = setTimeout(() => {
      this.channels.delete(name);
      this.listener.stopListening(name);
    }, LINGER_MS).unref();
  }

  private receivePayload(name: string, payload: string | undefined): void {
    const channel = this.channels.get(name);
    const signal = readPayload(payload);
    if (!channel || !signal || signal.sender === this.replica.replicaId) return;
    this.received.inc({ topic: channel.topic.name }, signal.keys.length);
    for (const { handler } of this.handlers.get(channel.topic.name) ?? []) {
      for (const key of signal.keys) handler.wakeFor(key);
    }
  }

  private catchUp(listened: readonly string[]): void {
    const topics = new Set(listened.map((name) => this.channels.get(name)?.topic.name));
    for (const topic of topics) for (const { handler } of this.handlers.get(topic ?? '') ?? []) handler.catchUp();
  }

  private reportLoss(error: unknown): void {
    this.losses.inc();
    this.logger.warn(
      { err: error },
      `The session that hears other replicas (${this.wire.name}) is lost; it is tried again`,
    );
  }
}

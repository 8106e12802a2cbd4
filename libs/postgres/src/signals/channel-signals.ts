import { Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { Backoff, type Metrics } from '#libs/service';
import type { ReplicaLife } from '../replica/replica-life.js';
import {
  NO_KEY,
  REPLICA_LEFT,
  ReplicaSignals,
  type SignalHandler,
  type SignalSubscription,
  type SignalTopic,
} from './replica-signals.js';
import type { SignalWire, WireEvents, WireSession } from './signal-wire.js';

/** Maximum bytes of a payload: PostgreSQL accepts fewer than 8,000. */
const MAX_BYTES = 7_900;

/** Returns the channel on which the signals of a key are sent; the result is the same at every replica. */
export function channelOf(topic: SignalTopic, key: string): string {
  return topic.shards === 1 ? `parley_${topic.name}` : `parley_${topic.name}_${hashKey(key) % topic.shards}`;
}

/**
 * Encodes the keys in as few payloads as possible. Each payload names its sender, so that the sender ignores its own
 * signals.
 */
export function payloadsOf(sender: string, keys: Iterable<string>): string[] {
  const head = JSON.stringify(sender);
  const payloads: string[] = [];
  let body = head;
  let bytes = Buffer.byteLength(head) + 2;
  for (const key of keys) {
    const json = `,${JSON.stringify(key)}`;
    const size = Buffer.byteLength(json);
    if (bytes + size > MAX_BYTES && body !== head) {
      payloads.push(`[${body}]`);
      body = head;
      bytes = Buffer.byteLength(head) + 2;
    }
    body += json;
    bytes += size;
  }
  if (body !== head) payloads.push(`[${body}]`);
  return payloads;
}

/** Parses a payload; returns `undefined` if it is not one that `payloadsOf` made. */
export function readPayload(payload: string | undefined): { sender: string; keys: string[] } | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(payload ?? '');
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed) || !parsed.every((entry) => typeof entry === 'string')) return undefined;
  const [sender, ...keys] = parsed as string[];
  return sender === undefined ? undefined : { sender, keys };
}

/** Returns a hash of a text (FNV-1a), which is cheap and spreads keys evenly over channels. */
function hashKey(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

const BACKOFF = new Backoff(50, 5_000);

interface ListenerEvents {
  onNotified(channel: string, payload: string | undefined): void;
  /** Reports subscribed channels; earlier signals on them may have been missed. */
  onListening(channels: readonly string[]): void;
  /** Reports a lost or failed session, once; the listener retries until it has a new session. */
  onLost(error: unknown): void;
}

/** Receives signals on a separate session. Opens a new session when the current one breaks. */
class SignalListener {
  private readonly wanted = new Set<string>();
  private readonly listened = new Set<string>();
  private session: WireSession | undefined;
  private syncing = false;
  private isTroubled = false;
  private ended = false;

  constructor(
    private readonly open: (events: WireEvents) => Promise<WireSession>,
    private readonly events: ListenerEvents,
  ) {}

  /** True if the session was lost, or could not be opened, and no new session exists yet. */
  get troubled(): boolean {
    return this.isTroubled;
  }

  listenTo(channel: string): void {
    this.wanted.add(channel);
    void this.syncChannels();
  }

  stopListening(channel: string): void {
    this.wanted.delete(channel);
    void this.syncChannels();
  }

  /**
   * Replaces the session. Called when the database may have failed over, so that the session may lead to a replaced
   * server.
   */
  renewSession(): void {
    if (this.session) this.discardSession(new Error('The session is replaced: its server only reads'));
  }

  async endListening(): Promise<void> {
    this.ended = true;
    const { session } = this;
    this.forgetSession();
    await session?.endSession();
  }

  /**
   * Subscribes the session to all wanted channels and unsubscribes it from all others, in one request. Retries with
   * pauses until that succeeds. Never rejects.
   */
  private async syncChannels(): Promise<void> {
    if (this.syncing) return;
    this.syncing = true;
    // Channels wanted in the same turn are requested together.
    await Promise.resolve();
    for (let failures = 0; !this.ended && this.isBehind();) {
      try {
        await this.listenToWanted();
        failures = 0;
      } catch (error) {
        this.discardSession(error);
        await delay(BACKOFF.pauseAfter(failures++), undefined, { ref: false });
      }
    }
    this.syncing = false;
  }

  private isBehind(): boolean {
    return this.wanted.symmetricDifference(this.listened).size > 0;
  }

  private async listenToWanted(): Promise<void> {
    const session = (this.session ??= await this.openWireSession());
    const fresh = [...this.wanted.difference(this.listened)];
    const stale = [...this.listened.difference(this.wanted)];
    await session.changeChannels(fresh, stale);
    // The session may have been lost since.
    if (this.session !== session) return;
    this.isTroubled = false;
    for (const channel of fresh) this.listened.add(channel);
    for (const channel of stale) this.listened.delete(channel);
    if (fresh.length > 0) this.events.onListening(fresh);
  }

  private async openWireSession(): Promise<WireSession> {
    // The session may end before it is assigned.
    const own: { session?: WireSession } = {};
    const session = await this.open({
      notified: (channel, payload) => this.events.onNotified(channel, payload),
      ended: (error) => {
        if (own.session !== undefined && this.session === own.session) this.discardSession(error);
      },
    });
    own.session = session;
    if (this.ended) await session.endSession();
    return session;
  }

  private discardSession(error: unknown): void {
    const { session } = this;
    this.forgetSession();
    void session?.endSession();
    if (this.ended) return;
    if (!this.isTroubled) this.events.onLost(error);
    this.isTroubled = true;
    void this.syncChannels();
  }

  private forgetSession(): void {
    this.session = undefined;
    this.listened.clear();
  }
}

/** Minimum milliseconds between two sends: at most a hundred per second. */
const PAUSE_MS = 10;
/** Maximum number of keys that wait while the transport does not answer; further keys are dropped. */
const MAX_WAITING = 10_000;

/** Sends each payload on the channel of the same index, in one request to the transport. */
export type Notify = (channels: readonly string[], payloads: readonly string[]) => Promise<unknown>;

/**
 * Sends signals: the first one at once, later ones within ten milliseconds together. Signals that cannot be sent are
 * dropped, since receivers also poll.
 */
export class SignalSender {
  private waiting = new Map<string, Set<string>>();
  private count = 0;
  private begun = Number.NEGATIVE_INFINITY;
  private sending: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param onFailure called with the error of each failed send */
  constructor(
    private readonly sender: string,
    private readonly notify: Notify,
    private readonly onFailure: (error: unknown) => void = () => undefined,
  ) {}

  queueSignal(channel: string, key: string): void {
    const keys = this.waiting.get(channel);
    if (keys?.has(key) || this.count >= MAX_WAITING) return;
    if (keys) keys.add(key);
    else this.waiting.set(channel, new Set([key]));
    this.count += 1;
    this.scheduleSend();
  }

  /** Sends the waiting signals; resolves when none is left. */
  async sendRemaining(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    do {
      this.sending ??= this.sendWaiting();
      await this.sending;
    } while (this.count > 0);
  }

  private scheduleSend(): void {
    if (this.sending || this.timer) return;
    const pause = this.begun + PAUSE_MS - performance.now();
    if (pause <= 0) {
      // Signals of the same turn share the statement.
      this.sending = Promise.resolve().then(() => this.sendWaiting());
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.sending ??= this.sendWaiting();
    }, pause).unref();
  }

  /** Sends all waiting signals in one request to the transport. Never rejects. */
  private async sendWaiting(): Promise<void> {
    const { waiting } = this;
    this.waiting = new Map();
    this.count = 0;
    this.begun = performance.now();
    const channels: string[] = [];
    const payloads: string[] = [];
    for (const [channel, keys] of waiting) {
      for (const payload of payloadsOf(this.sender, keys)) {
        channels.push(channel);
        payloads.push(payload);
      }
    }
    try {
      if (channels.length > 0) await this.notify(channels, payloads);
    } catch (error) {
      this.onFailure(error);
    }
    this.sending = undefined;
    if (this.count > 0) this.scheduleSend();
  }
}

/** Milliseconds that an unwatched channel stays subscribed, so that its next watcher needs no new subscription. */
const LINGER_MS = 30_000;

interface Channel {
  topic: SignalTopic;
  watchers: number;
  lingering?: NodeJS.Timeout;
}

/**
 * Implements ReplicaSignals over any transport with channels (SignalWire).
 * - Keys are spread over the channels of their topic, so that a replica receives few signals that it does not watch.
 * - Signals are sent at most a hundred times per second. While no other replica lives, nothing is sent, and a signal
 *   costs one comparison.
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

  /**
   * Reason why signals of other replicas are not received, as the health report shows it; `undefined` while they are
   * received.
   */
  get trouble(): string | undefined {
    if (!this.listener.troubled) return undefined;
    return `${this.wire.name} is out of reach: replicas poll instead, with a delay of about a second`;
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

  /**
   * Announces that this replica has left (REPLICA_LEFT), and stops sending and receiving. Call it once the replica's
   * life has ended.
   */
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
      `The session for signals of other replicas (${this.wire.name}) is lost; reconnecting`,
    );
  }
}

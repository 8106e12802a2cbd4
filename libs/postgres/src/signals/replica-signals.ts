/** Kind of change that replicas announce to each other. */
export interface SignalTopic {
  /** Name of lower-case letters and underscores; part of a channel's name. */
  readonly name: string;
  /** Number of channels over which the keys are spread: a replica subscribes only to the channels of watched keys. */
  readonly shards: number;
}

export interface SignalHandler {
  /**
   * Receives a key that another replica sent. The key may be one that this replica does not watch, since keys share
   * channels.
   */
  wakeFor(key: string): void;
  /**
   * Reacts to possibly missed signals of any key by reading the current state. Also called when a subscription begins.
   */
  catchUp(): void;
}

export interface SignalSubscription {
  /**
   * Subscribes to the key's channel; `catchUp` is called once that is effective. Calls are counted: a key that was
   * watched twice must be unwatched twice.
   */
  watchKey(key: string): void;
  unwatchKey(key: string): void;
}

/**
 * Wakes other replicas: announces that something changed, never what. A signal may be lost, late, duplicated or
 * irrelevant, so no correctness may depend on one. Receivers read the database; waiters also poll it from time to time.
 */
export abstract class ReplicaSignals {
  /**
   * Announces a change of the key to the other replicas. Call it after the commit of the change. Never throws and never
   * waits; does nothing while this replica is alone.
   */
  abstract sendSignal(topic: SignalTopic, key: string): void;

  /** Subscribes a handler until the process ends. */
  abstract subscribeTopic(topic: SignalTopic, handler: SignalHandler): SignalSubscription;
}

/** Topic of replicas that have left in order and released their work. The only key is `NO_KEY`. */
export const REPLICA_LEFT: SignalTopic = { name: 'replica_left', shards: 1 };

/** Key of every signal of a topic that needs no keys. */
export const NO_KEY = '';

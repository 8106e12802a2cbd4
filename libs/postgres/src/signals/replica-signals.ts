/** A kind of thing that replicas tell each other about. */
export interface SignalTopic {
  /** Lower-case letters and underscores; part of a channel's name. */
  readonly name: string;
  /** Over how many channels the keys are spread: a replica hears only the channels of the keys that it watches. */
  readonly shards: number;
}

export interface SignalHandler {
  /** Another replica sent the key. It may be one that nobody watches: channels are shared. */
  wake(key: string): void;
  /** Signals may have been missed, of any key: look at what there is. Also called when the hearing begins. */
  catchUp(): void;
}

export interface SignalSubscription {
  /** Hears the key's channel from now on; `catchUp` is called once it does. Counted: watch twice, unwatch twice. */
  watch(key: string): void;
  unwatch(key: string): void;
}

/**
 * Wakes other replicas: tells them that something changed, never what. A signal may be lost, late, doubled or of no
 * interest, so nothing may depend on one: whoever is woken looks into the database, and whoever waits also looks there
 * by himself from time to time.
 */
export abstract class ReplicaSignals {
  /**
   * Tells the other replicas that something about the key has changed. To be called after the commit of what it tells
   * of. Never throws and never waits; does nothing while this replica is alone.
   */
  abstract send(topic: SignalTopic, key: string): void;

  /** Ends with the process. */
  abstract subscribe(topic: SignalTopic, handler: SignalHandler): SignalSubscription;
}

/** A replica has left in good order and let go of its work. The one key is `NO_KEY`. */
export const REPLICA_LEFT: SignalTopic = { name: 'replica_left', shards: 1 };

/** The key of topics that have no use for one. */
export const NO_KEY = '';

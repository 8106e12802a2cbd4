import type { JsonObject } from '#libs/protocol';
import type { CardChange } from './card-changes.js';

/** An agent's card as it was seen first, or accepted since. */
export interface CardPin {
  id: string;
  /** The agent's URL, as its callers name it. */
  url: string;
  hash: string;
  /** As it came; `null` where it was accepted that there is none. */
  card: JsonObject | null;
  /** What was seen since then and waits to be accepted. */
  pending?: { hash: string; paths: string[] };
}

/** A card as it was seen. */
export interface SeenCard {
  hash: string;
  /** The agent's name, as far as it can be shown. */
  name: string;
  card: JsonObject | null;
}

/** A card that differs from the pinned one. */
export interface SeenChange extends SeenCard {
  changes: readonly CardChange[];
  significant: boolean;
  /** Whether it takes the place of the pinned one at once. */
  accepted: boolean;
}

/**
 * The cards of agents that this service calls, one for each tenant and URL, the same for all replicas. Whoever changes a
 * pin says which hash it goes from: of two changes at the same moment one finds the pin moved, and looks again.
 */
export abstract class CardPins {
  abstract find(tenant: string, url: string): Promise<CardPin | undefined>;

  /** Keeps a card as the first one, unless there is one already. @returns whichever is kept */
  abstract pin(tenant: string, url: string, seen: SeenCard): Promise<CardPin>;

  /** @returns whether this change was not known yet; `undefined` where the pin has moved meanwhile */
  abstract note(pin: CardPin, change: SeenChange): Promise<boolean | undefined>;

  /** The agent says again what is pinned: nothing waits to be accepted any more. */
  abstract seenAgain(pin: CardPin): Promise<void>;

  /** The pinned card is in use. @returns whether it still is the pinned one */
  abstract inUse(pin: CardPin): Promise<boolean>;

  /**
   * Forgets the cards of agents that nobody has called since a time, but those of which a change waits to be accepted.
   * @returns how many; gives up when the signal aborts
   */
  abstract forget(unseenSince: Date, signal: AbortSignal): Promise<number>;
}

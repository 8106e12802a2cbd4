const SLOTS = 15;

/** Calls its owner back at the latest when it has been silent for an interval, again and again until it is stopped. */
export class KeepAlive {
  private readonly wheel: Wheel;
  /** The turn in which it was last renewed. */
  renewed: number;
  slot: KeepAlive[];
  index: number;

  constructor(
    intervalMs: number,
    readonly owner: { beat(): void },
  ) {
    this.wheel = Wheel.of(intervalMs);
    this.renewed = this.wheel.turn;
    this.slot = this.wheel.slotOf(this.renewed);
    this.index = this.slot.push(this) - 1;
    this.wheel.start();
  }

  /** The owner said something. */
  renew(): void {
    this.renewed = this.wheel.turn;
  }

  /** Idempotent. */
  stop(): void {
    const { slot, index } = this;
    if (slot[index] !== this) return;
    const last = slot.pop()!;
    if (last === this) return;
    slot[index] = last;
    last.index = index;
  }

  /** To where its next turn is looked at. */
  move(): void {
    this.stop();
    this.slot = this.wheel.slotOf(this.renewed);
    this.index = this.slot.push(this) - 1;
  }
}

/**
 * One timer for all with the same interval, which it goes around once in so many turns. Each turn has a look at those
 * that were silent since it was there before, or were renewed since.
 */
class Wheel {
  private static readonly wheels = new Map<number, Wheel>();
  turn = 0;
  private readonly slots: KeepAlive[][] = Array.from({ length: SLOTS }, () => []);
  private timer: NodeJS.Timeout | undefined;

  private constructor(private readonly intervalMs: number) {}

  static of(intervalMs: number): Wheel {
    const known = this.wheels.get(intervalMs);
    if (known) return known;
    const wheel = new Wheel(intervalMs);
    this.wheels.set(intervalMs, wheel);
    return wheel;
  }

  /** Where those are that are to be called after as many turns as there are slots. */
  slotOf(turn: number): KeepAlive[] {
    return this.slots[turn % SLOTS]!;
  }

  start(): void {
    this.timer ??= setInterval(() => this.next(), this.intervalMs / SLOTS).unref();
  }

  private next(): void {
    this.turn += 1;
    const slot = this.slotOf(this.turn);
    for (const it of slot.slice()) {
      if (it.slot[it.index] !== it) continue;
      if (it.renewed > this.turn - SLOTS) it.move();
      else this.call(it);
    }
    if (this.slots.some(({ length }) => length > 0)) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private call(it: KeepAlive): void {
    it.renew();
    it.owner.beat();
  }
}

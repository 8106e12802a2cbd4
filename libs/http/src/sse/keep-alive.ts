const SLOTS = 15;

/** Calls its owner back after each interval of silence, until it is stopped. */
export class KeepAlive {
  private readonly wheel: Wheel;
  /** Turn of its last activity. */
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

  /** Notes activity of the owner. */
  renew(): void {
    this.renewed = this.wheel.turn;
  }

  /** Stops the timer. Idempotent. */
  stop(): void {
    const { slot, index } = this;
    if (slot[index] !== this) return;
    const last = slot.pop()!;
    if (last === this) return;
    slot[index] = last;
    last.index = index;
  }

  /** Moves the timer to the slot of its next check. */
  move(): void {
    this.stop();
    this.slot = this.wheel.slotOf(this.renewed);
    this.index = this.slot.push(this) - 1;
  }
}

/**
 * Timer wheel for all timers with the same interval, which one round of `SLOTS` turns takes. Each turn checks the
 * timers of its slot: it calls those silent for a whole round and moves the others.
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

  /** Returns the slot of the timers that are due one round after a turn. */
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

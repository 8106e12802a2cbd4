const SLOTS = 15;

/** Calls its owner back after each interval of silence, until it is stopped. */
export class HeartbeatTimer {
  private readonly wheel: TimerWheel;
  /** Turn of its last activity. */
  renewed: number;
  slot: HeartbeatTimer[];
  index: number;

  constructor(
    intervalMs: number,
    readonly owner: { sendHeartbeat(): void },
  ) {
    this.wheel = TimerWheel.forInterval(intervalMs);
    this.renewed = this.wheel.turn;
    this.slot = this.wheel.slotOf(this.renewed);
    this.index = this.slot.push(this) - 1;
    this.wheel.start();
  }

  /** Notes activity of the owner. */
  noteActivity(): void {
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
  moveSlot(): void {
    this.stop();
    this.slot = this.wheel.slotOf(this.renewed);
    this.index = this.slot.push(this) - 1;
  }
}

/**
 * Timer wheel for all timers with the same interval, which one round of `SLOTS` turns takes. Each turn checks the
 * timers of its slot: it calls those silent for a whole round and moves the others.
 */
class TimerWheel {
  private static readonly wheels = new Map<number, TimerWheel>();
  turn = 0;
  private readonly slots: HeartbeatTimer[][] = Array.from({ length: SLOTS }, () => []);
  private timer: NodeJS.Timeout | undefined;

  private constructor(private readonly intervalMs: number) {}

  static forInterval(intervalMs: number): TimerWheel {
    const known = this.wheels.get(intervalMs);
    if (known) return known;
    const wheel = new TimerWheel(intervalMs);
    this.wheels.set(intervalMs, wheel);
    return wheel;
  }

  /** Returns the slot of the timers that are due one round after a turn. */
  slotOf(turn: number): HeartbeatTimer[] {
    return this.slots[turn % SLOTS]!;
  }

  start(): void {
    this.timer ??= setInterval(() => this.advanceTurn(), this.intervalMs / SLOTS).unref();
  }

  private advanceTurn(): void {
    this.turn += 1;
    const slot = this.slotOf(this.turn);
    for (const it of slot.slice()) {
      if (it.slot[it.index] !== it) continue;
      if (it.renewed > this.turn - SLOTS) it.moveSlot();
      else this.callOwner(it);
    }
    if (this.slots.some(({ length }) => length > 0)) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private callOwner(it: HeartbeatTimer): void {
    it.noteActivity();
    it.owner.sendHeartbeat();
  }
}

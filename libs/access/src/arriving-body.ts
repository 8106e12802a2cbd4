import { InFlight, type InFlightOwner, type InFlightRefusal, SMALL_REQUEST } from '#libs/service';

/**
 * The bytes of a request that does not say how many it has: small, until it turns out to be none; then it counts as the
 * largest that there may be. Counted so from its first bytes on, those that come together are not all refused half-way.
 */
export class ArrivingBody {
  private readonly account: string;
  private arrived = 0;
  private counted = 0;
  private released = false;

  private constructor(
    private readonly inFlight: InFlight,
    whose: InFlightOwner,
    private readonly largest: number,
  ) {
    this.account = InFlight.accountOf(whose);
  }

  /** Lets it begin, or says why not. */
  static enter(inFlight: InFlight, whose: InFlightOwner, largest: number): ArrivingBody | InFlightRefusal {
    const body = new ArrivingBody(inFlight, whose, largest);
    return body.grow(Math.min(SMALL_REQUEST, largest)) ?? body;
  }

  /** Takes what came, or says why it may not: then nothing more of it is to be kept. */
  take(bytes: number): InFlightRefusal | undefined {
    this.arrived += bytes;
    return this.arrived > this.counted && this.counted < this.largest ? this.grow(this.largest) : undefined;
  }

  /** Nothing more will come: from now on it counts as what it is. */
  complete(): void {
    if (this.released || this.arrived >= this.counted) return;
    this.inFlight.add(this.account, this.arrived - this.counted);
    this.counted = this.arrived;
  }

  /** It is over: again is the same. */
  release(): void {
    this.released = true;
    this.inFlight.add(this.account, -this.counted);
    this.counted = 0;
  }

  private grow(bytes: number): InFlightRefusal | undefined {
    if (this.released) return undefined;
    const refusal = this.inFlight.refusal(this.account, bytes, this.counted);
    if (refusal) {
      this.inFlight.refused(refusal);
      return refusal;
    }
    this.inFlight.add(this.account, bytes - this.counted);
    this.counted = bytes;
    return undefined;
  }
}

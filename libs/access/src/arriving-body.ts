import { InFlight, type InFlightOwner, type InFlightRefusal, SMALL_REQUEST } from '#libs/service';

/**
 * Counts the bytes of a request without a declared length: as small at first, as the largest possible body once it
 * exceeds that. Counting from the first bytes keeps concurrent requests from all being refused half-way.
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

  /** Admits a body, or returns the refusal. */
  static admitBody(inFlight: InFlight, whose: InFlightOwner, largest: number): ArrivingBody | InFlightRefusal {
    const body = new ArrivingBody(inFlight, whose, largest);
    return body.growCount(Math.min(SMALL_REQUEST, largest)) ?? body;
  }

  /** Accepts received bytes, or returns the refusal: no more of the body may be kept then. */
  acceptBytes(bytes: number): InFlightRefusal | undefined {
    this.arrived += bytes;
    return this.arrived > this.counted && this.counted < this.largest ? this.growCount(this.largest) : undefined;
  }

  /** Marks the body as complete: from now on it counts with its real size. */
  completeBody(): void {
    if (this.released || this.arrived >= this.counted) return;
    this.inFlight.addBytes(this.account, this.arrived - this.counted);
    this.counted = this.arrived;
  }

  /** Releases the counted bytes. Idempotent. */
  releaseBytes(): void {
    this.released = true;
    this.inFlight.addBytes(this.account, -this.counted);
    this.counted = 0;
  }

  private growCount(bytes: number): InFlightRefusal | undefined {
    if (this.released) return undefined;
    const refusal = this.inFlight.findRefusal(this.account, bytes, this.counted);
    if (refusal) {
      this.inFlight.countRefusal(refusal);
      return refusal;
    }
    this.inFlight.addBytes(this.account, bytes - this.counted);
    this.counted = bytes;
    return undefined;
  }
}

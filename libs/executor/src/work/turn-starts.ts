/** Milliseconds of processor time that starts in one turn of the event loop may take. */
const LONGEST_TURN = 20;

/** Limits the number of starts in one turn of the event loop, so that other events are served. */
export class TurnStarts {
  private most: number;
  private left: number;
  private began = 0;
  private isRefused = false;
  private isUnderWay = false;

  /**
   * @param limit maximum number of starts per turn; fewer after a slow turn
   * @param onTurn called in the next turn after a start was refused
   */
  constructor(
    private readonly limit: number,
    private readonly onTurn: () => void,
  ) {
    this.most = limit;
    this.left = limit;
  }

  /** Counts a start. @returns false if no more may start in this turn */
  takeStart(): boolean {
    if (!this.isUnderWay) this.beginTurn();
    if (this.left < 1) {
      this.isRefused = true;
      return false;
    }
    this.left -= 1;
    return true;
  }

  private beginTurn(): void {
    this.isUnderWay = true;
    this.began = processorTime();
    setImmediate(() => this.endTurn());
  }

  private endTurn(): void {
    const took = processorTime() - this.began;
    if (took > LONGEST_TURN) this.most = Math.max(1, Math.floor(this.most / 2));
    else if (took < LONGEST_TURN / 2) this.most = Math.min(this.limit, this.most + 1);
    const { isRefused } = this;
    this.left = this.most;
    this.isRefused = false;
    this.isUnderWay = false;
    if (isRefused) this.onTurn();
  }
}

/** Returns the processor time of this thread in milliseconds, which does not grow while other threads run. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Runs the work on each key one after the other, so that a key uses one session of this process at most. */
export class KeyTurns {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Runs work after all earlier work on the key, whether that succeeded or not. Settles as the work does. */
  async runInTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(key);
    const result = before ? before.then(work, work) : work();
    this.last.set(key, result);
    try {
      return await result;
    } finally {
      if (this.last.get(key) === result) this.last.delete(key);
    }
  }
}

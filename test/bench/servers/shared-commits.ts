/** Writes rows in shared commits, as a lower bound: rows that arrive during a commit share the next one. */
export class SharedCommits<Row> {
  private readonly insert: (rows: readonly Row[]) => Promise<unknown>;
  private waiting: { row: Row; resolve(): void; reject(error: unknown): void }[] = [];
  private busy = false;

  /** @param insert writes rows in one commit */
  constructor(insert: (rows: readonly Row[]) => Promise<unknown>) {
    this.insert = insert;
  }

  /** Resolves when the row is durable. */
  write(row: Row): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ row, resolve, reject });
      if (this.busy) return;
      this.busy = true;
      // What is written in the same turn comes together.
      queueMicrotask(() => this.begin());
    });
  }

  private begin(): void {
    const batch = this.waiting;
    this.waiting = [];
    this.insert(batch.map(({ row }) => row)).then(
      () => {
        this.next();
        for (const { resolve } of batch) resolve();
      },
      (error: unknown) => {
        this.next();
        for (const { reject } of batch) reject(error);
      },
    );
  }

  /** Starts the next commit before the rows of the last one are acknowledged, so that the database is never idle. */
  private next(): void {
    if (this.waiting.length > 0) this.begin();
    else this.busy = false;
  }
}

/** Checks of a program: each prints a line when it ends, and the last line counts them. */
export class CheckList {
  #passed = 0;
  #failed = 0;

  /** Runs a check. A check that throws has failed: its error is printed, and the next checks still run. */
  async check(what: string, work: () => unknown): Promise<void> {
    const from = Date.now();
    try {
      await work();
      this.#passed += 1;
      print(`✓ ${what} (${((Date.now() - from) / 1000).toFixed(1)} s)`);
    } catch (error) {
      this.fail(what, error);
    }
  }

  fail(what: string, error: unknown): void {
    this.#failed += 1;
    print(`✗ ${what}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }

  skip(what: string, reason: string): void {
    print(`– ${what}: skipped, ${reason}`);
  }

  /** Prints "N passed, N failed", and sets the exit code of the process. */
  end(): void {
    print(`${this.#passed} passed, ${this.#failed} failed`);
    process.exitCode = this.#failed > 0 ? 1 : 0;
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

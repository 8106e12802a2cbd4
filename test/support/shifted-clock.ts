import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'shifted-clock.mjs')).href;

/** The clock of one process of Node, which may be off and may step. */
export class ShiftedClock {
  private readonly folder = mkdtempSync(join(tmpdir(), 'parley-clock-'));
  private readonly file = join(this.folder, 'shift');

  /** @param shiftMs how much it is off from the start */
  constructor(shiftMs = 0) {
    this.shift(shiftMs);
  }

  /** What the process needs in its environment. */
  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--import ${PRELOAD}`, SHIFTED_CLOCK: this.file };
  }

  /** Sets the clock so much ahead of the machine's, or behind it; the process follows within a tenth of a second. */
  shift(shiftMs: number): void {
    // At once: no process reads half of it.
    writeFileSync(`${this.file}.new`, String(shiftMs));
    renameSync(`${this.file}.new`, this.file);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

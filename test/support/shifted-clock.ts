import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'shifted-clock.mjs')).href;

/** Clock of one Node process, which a test can shift. */
export class ShiftedClock {
  private readonly folder = mkdtempSync(join(tmpdir(), 'parley-clock-'));
  private readonly file = join(this.folder, 'shift');

  /** @param shiftMs initial difference from the machine's clock, in milliseconds */
  constructor(shiftMs = 0) {
    this.shift(shiftMs);
  }

  /** Environment that the process needs. */
  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--import ${PRELOAD}`, SHIFTED_CLOCK: this.file };
  }

  /**
   * Sets the difference from the machine's clock; negative: behind it. The process follows within a tenth of a second.
   */
  shift(shiftMs: number): void {
    // At once: no process reads half of it.
    writeFileSync(`${this.file}.new`, String(shiftMs));
    renameSync(`${this.file}.new`, this.file);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

import { chmodSync, closeSync, openSync, statSync, writeFileSync } from 'node:fs';

/** Writes a file that only its owner reads, whatever the umask and whatever mode an earlier version gave it. */
export function writePrivate(path: string, text: string): void {
  closeToOthers(path);
  writeFileSync(path, text, { mode: 0o600 });
}

/** An empty file that was there for nobody else at any time. One that exists is closed to others, and never opened. */
export function ensurePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    closeToOthers(path);
  }
}

/** Takes every right of group and others away, where there is something. */
export function closeToOthers(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined && (mode & 0o077) !== 0) chmodSync(path, mode & 0o7700);
}

import { chmodSync, closeSync, openSync, statSync, writeFileSync } from 'node:fs';

/** Writes a file that only its owner can read, whatever the umask and the mode of an existing file. */
export function writePrivate(path: string, text: string): void {
  closeToOthers(path);
  writeFileSync(path, text, { mode: 0o600 });
}

/** Creates an empty file that is private from the start. An existing file is closed to others, and never opened. */
export function ensurePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    closeToOthers(path);
  }
}

/** Removes all rights of group and others from an existing file. */
export function closeToOthers(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined && (mode & 0o077) !== 0) chmodSync(path, mode & 0o7700);
}

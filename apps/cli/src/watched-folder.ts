import { watch } from 'node:fs';

/** Milliseconds to wait, since editors write a file in several steps. */
const SETTLE_MS = 100;

/**
 * Calls `keep` at once, and after every change in a folder, one call after the other. Changes during a call count, from
 * the first call on. Resolves after the first call.
 * @param keep never rejects
 * @param gone called with the reason why the folder is no longer watched
 */
export async function keepUp(
  folder: string,
  keep: () => Promise<void>,
  gone: (reason: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let work = Promise.resolve();
  const watcher = watch(folder, { recursive: true, ...(signal && { signal }) }, (_, name) => {
    if (name?.toString().includes('.parley')) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      work = work.then(keep);
    }, SETTLE_MS);
  });
  watcher.on('error', ({ message }) => gone(message));
  work = keep();
  await work;
}

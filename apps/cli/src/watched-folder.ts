import { watch } from 'node:fs';

/** Editors write a file in several steps. */
const SETTLE_MS = 100;

/**
 * Keeps up with a folder: at once, and whenever something in it has changed, one after the other. What changes while it keeps
 * up is a change as well, from the first time on. Resolves when that is over.
 * @param keep never rejects
 * @param gone is told why the folder is watched no more
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

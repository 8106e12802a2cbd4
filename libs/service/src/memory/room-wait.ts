/** Conditions that end a wait for room, besides a grant. */
export interface RoomWaitEnds {
  /** Maximum wait in milliseconds; absent: no limit. */
  ms?: number | undefined;
  signal: AbortSignal;
  /** Creates the error of a wait that was too long. */
  tooLong: () => Error;
}

/** Waits until room is granted. @throws the error of `tooLong`; the signal's reason */
export async function untilGranted(
  { promise, reject }: PromiseWithResolvers<void>,
  { ms, signal, tooLong }: RoomWaitEnds,
): Promise<void> {
  const timer = ms === undefined ? undefined : setTimeout(() => reject(tooLong()), ms);
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Ends of a wait for room, beside the room itself. */
export interface RoomWaitEnds {
  /** Milliseconds of the longest wait; absent: the wait has no limit. */
  ms?: number | undefined;
  signal: AbortSignal;
  /** Makes the error of a wait that was too long. */
  tooLong: () => Error;
}

/** Waits until room is granted. @throws what `tooLong` makes; the signal's reason */
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

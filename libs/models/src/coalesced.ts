import { withoutHalf } from '#libs/protocol';

/** Default time in milliseconds for which text is held back. */
const HELD_MS = 80;

/** Starts a timer that resolves `over` after `ms` milliseconds; `endPause` stops it. */
export type Pause = (ms: number) => { over: Promise<void>; endPause(): void };

/** Text since the previous piece, and the event that followed it. Without an event, more text may follow. */
export interface Piece<E> {
  text: string;
  event?: E;
}

export interface CoalescingOptions {
  /** Milliseconds for which text is held; 80 unless set. */
  heldMs?: number;
  /** Timer for tests. */
  pause?: Pause;
}

/**
 * Merges consecutive texts, and yields each other event with the text before it.
 * - Text is yielded at most `heldMs` after its first piece, so at most once in that time.
 * - Characters stay whole: the first half of a surrogate pair waits for the second. A half that stays alone becomes
 *   U+FFFD.
 */
export async function* coalesceText<E extends object>(
  events: AsyncIterable<E | { text: string }>,
  { heldMs = HELD_MS, pause = startTimer }: CoalescingOptions = {},
): AsyncGenerator<Piece<E>> {
  const iterator = events[Symbol.asyncIterator]();
  let text = '';
  let held: ReturnType<Pause> | undefined;
  const letGo = (piece = text): string => {
    text = text.slice(piece.length);
    held?.endPause();
    held = undefined;
    return piece.toWellFormed();
  };
  try {
    for (let next = iterator.next(); ;) {
      const result = await (held ? Promise.race([next, held.over]) : next);
      if (!result) {
        const piece = letGo(withoutHalf(text));
        if (piece !== '') yield { text: piece };
        continue;
      }
      if (result.done) break;
      next = iterator.next();
      // Avoids an unhandled rejection if the reader leaves before this piece.
      next.catch(() => undefined);
      const { value } = result;
      if (!isText(value)) yield { text: letGo(), event: value };
      else if (value.text !== '') {
        text += value.text;
        held ??= pause(heldMs);
      }
    }
    if (text !== '') yield { text: letGo() };
  } finally {
    held?.endPause();
    void iterator.return?.().catch(() => undefined);
  }
}

function isText<E extends object>(event: E | { text: string }): event is { text: string } {
  return 'text' in event;
}

function startTimer(ms: number): ReturnType<Pause> {
  let timeout: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timeout = setTimeout(resolve, ms);
  });
  return { over, endPause: () => clearTimeout(timeout) };
}

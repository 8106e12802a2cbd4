import { withoutHalf } from '#libs/protocol';

/** Milliseconds for which text is held so that it is reported together, unless a caller says otherwise. */
const HELD_MS = 80;

/** Waits so many milliseconds. */
export type Pause = (ms: number) => { over: Promise<void>; end(): void };

/** Text that came since the last piece, and the event that came after it; without one there is more to come. */
export interface Piece<E> {
  text: string;
  event?: E;
}

export interface CoalescingOptions {
  /** Milliseconds for which text is held; 80 unless set. */
  heldMs?: number;
  /** A clock for tests. */
  pause?: Pause;
}

/**
 * The same events, with what pieces of text came before them; text that nothing follows for `heldMs` after its beginning is
 * reported then, so there is at most one piece of text in that time. Characters stay whole: the first half of one waits
 * for the second, and a half that stays alone becomes U+FFFD.
 */
export async function* coalesced<E extends object>(
  events: AsyncIterable<E | { text: string }>,
  { heldMs = HELD_MS, pause = timer }: CoalescingOptions = {},
): AsyncGenerator<Piece<E>> {
  const iterator = events[Symbol.asyncIterator]();
  let text = '';
  let held: ReturnType<Pause> | undefined;
  const letGo = (piece = text): string => {
    text = text.slice(piece.length);
    held?.end();
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
      // Told to whoever waits for it; who leaves before that does not.
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
    held?.end();
    void iterator.return?.().catch(() => undefined);
  }
}

function isText<E extends object>(event: E | { text: string }): event is { text: string } {
  return 'text' in event;
}

function timer(ms: number): ReturnType<Pause> {
  let timeout: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timeout = setTimeout(resolve, ms);
  });
  return { over, end: () => clearTimeout(timeout) };
}

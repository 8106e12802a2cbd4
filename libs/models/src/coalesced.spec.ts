import { coalesceText, type Piece } from './models.js';

type Event = { end: true } | { text: string };

/** Stream that a test feeds with events, and a clock that a test advances. */
class Fed {
  private readonly waiting: ((result: IteratorResult<Event>) => void)[] = [];
  private readonly events: IteratorResult<Event>[] = [];
  readonly ends: (() => void)[] = [];
  isReturned = false;

  readonly stream: AsyncIterable<Event> = {
    [Symbol.asyncIterator]: () => ({
      next: () =>
        new Promise((resolve) => {
          const event = this.events.shift();
          if (event) resolve(event);
          else this.waiting.push(resolve);
        }),
      return: async () => {
        this.isReturned = true;
        return { done: true, value: undefined };
      },
    }),
  };

  readonly pause = () => {
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.ends.push(end);
    return { over, endPause: () => undefined };
  };

  push(value: Event): void {
    const result = { done: false, value } as const;
    const waiting = this.waiting.shift();
    if (waiting) waiting(result);
    else this.events.push(result);
  }
}

describe('text that comes in pieces', () => {
  it('keeps a character whole whose halves come apart, however long that takes', async () => {
    const fed = new Fed();
    const pieces = coalesceText<{ end: true }>(fed.stream, { pause: fed.pause });
    const next = async (): Promise<Piece<{ end: true }> | undefined> => (await pieces.next()).value ?? undefined;
    const first = next();
    fed.push({ text: 'a\ud83d' });
    await settled();
    fed.ends[0]?.();
    expect(await first).toEqual({ text: 'a' });
    const second = next();
    fed.push({ text: '\ude00b' });
    await settled();
    fed.ends[1]?.();
    expect(await second).toEqual({ text: '😀b' });
    fed.push({ text: '\ud83d' });
    const third = next();
    await settled();
    fed.ends[2]?.();
    await settled();
    fed.push({ text: '\ude00' });
    await settled();
    fed.ends[3]?.();
    expect(await third).toEqual({ text: '😀' });
  });

  it('has U+FFFD for half a character that stays alone', async () => {
    const fed = new Fed();
    const pieces = coalesceText<{ end: true }>(fed.stream, { pause: fed.pause });
    fed.push({ text: '\ude00a\ud83d' });
    fed.push({ end: true });
    expect((await pieces.next()).value).toEqual({ text: '\ufffda\ufffd', event: { end: true } });
  });

  it('is told of as one piece each time that it was held, and with what comes after it', async () => {
    const fed = new Fed();
    const pieces = coalesceText<{ end: true }>(fed.stream, { pause: fed.pause });
    const next = async (): Promise<Piece<{ end: true }> | undefined> => (await pieces.next()).value ?? undefined;
    fed.push({ text: 'a' });
    fed.push({ text: 'b' });
    const first = next();
    await settled();
    expect(fed.ends).toHaveLength(1);
    fed.push({ text: 'c' });
    await settled();
    fed.ends[0]?.();
    expect(await first).toEqual({ text: 'abc' });
    const second = next();
    fed.push({ text: 'd' });
    await settled();
    expect(fed.ends).toHaveLength(2);
    fed.push({ end: true });
    expect(await second).toEqual({ text: 'd', event: { end: true } });
    await pieces.return(undefined);
    expect(fed.isReturned).toBe(true);
  });
});

/** Waits for one cycle of the event loop, in which all settled promises have been handled. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

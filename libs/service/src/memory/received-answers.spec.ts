import { jest } from '@jest/globals';
import { type AnswerPlace, ReceivedAnswers, type ReceivedAnswersOptions, TooManyAnswers } from './received-answers.js';

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;
/**
 * Heap for answers. The steps get half of it: 2 MiB for answers up to 1 MiB, 2 MiB for answers up to 8 MiB, and 4 MiB
 * for larger answers.
 */
const BYTES = 16 * MEGABYTE;

const NOBODY = { tenant: '', owner: '' };
const [ONE, OTHER, THIRD] = [
  { tenant: 'a', owner: 'one' },
  { tenant: 'b', owner: 'other' },
  { tenant: 'c', owner: 'third' },
];

/** Accounts that the test has opened. */
const places: AnswerPlace[] = [];

function roomOf(options: ReceivedAnswersOptions = {}): Pick<ReceivedAnswers, 'openPlace'> {
  const room = new ReceivedAnswers({ bytes: BYTES, ...options });
  const place: ReceivedAnswers['openPlace'] = (...given) => {
    const opened = room.openPlace(...given);
    places.push(opened);
    return opened;
  };
  return { openPlace: place };
}

afterEach(() => {
  for (const place of places.splice(0)) place[Symbol.dispose]();
});

/** Reads a number of bytes, and returns whether there was room at once. */
async function reads(place: AnswerPlace, bytes: number): Promise<'at once' | 'after a wait'> {
  const room = place.countRead(bytes);
  await room;
  return room ? 'after a wait' : 'at once';
}

/** True if the promise is still pending after one cycle of the event loop. */
async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  promise.then(
    () => (isSettled = true),
    () => (isSettled = true),
  );
  await new Promise(setImmediate);
  return !isSettled;
}

describe('The room for answers', () => {
  it('lets short answers in, however many there are', () => {
    const room = roomOf();
    const opened = Array.from({ length: 1_000 }, () => room.openPlace(ONE));
    expect(opened.map((place) => place.countRead(64 * KILOBYTE))).toEqual(Array(1_000).fill(undefined));
  });

  it('has one caller wait behind its own answers, and others not at all', async () => {
    const room = roomOf();
    const [first, second, third] = [room.openPlace(ONE), room.openPlace(ONE), room.openPlace(ONE)];
    await Promise.all([reads(first, 640 * KILOBYTE), reads(second, 640 * KILOBYTE)]);
    const waiting = reads(third, 640 * KILOBYTE);
    expect(await isOpen(waiting)).toBe(true);
    expect(await reads(room.openPlace(OTHER), 640 * KILOBYTE)).toBe('at once');
    first[Symbol.dispose]();
    expect(await waiting).toBe('after a wait');
  });

  it('has callers of one tenant wait behind each other, and others not at all', async () => {
    const room = roomOf();
    for (const owner of ['1', '2', '3']) await reads(room.openPlace({ tenant: 'a', owner }), 768 * KILOBYTE);
    expect(await isOpen(reads(room.openPlace({ tenant: 'a', owner: '4' }), 128 * KILOBYTE))).toBe(true);
    expect(await reads(room.openPlace(OTHER), 384 * KILOBYTE)).toBe('at once');
  });

  it('gives a caller without a name all of the room, and no more than its share once another waits', async () => {
    const room = roomOf();
    const held = [room.openPlace(NOBODY), room.openPlace(NOBODY), room.openPlace(NOBODY)];
    for (const place of held) expect(await reads(place, MEGABYTE)).toBe('at once');
    const own = reads(room.openPlace(NOBODY), MEGABYTE);
    const other = reads(room.openPlace(OTHER), MEGABYTE);
    held[0]![Symbol.dispose]();
    held[1]![Symbol.dispose]();
    expect(await other).toBe('after a wait');
    expect(await own).toBe('after a wait');
  });

  it('counts the bytes of answers and not their number', async () => {
    const room = roomOf();
    const opened = Array.from({ length: 9 }, () => room.openPlace(ONE));
    expect(opened.map((place) => place.countRead(128 * KILOBYTE))).toEqual(Array(9).fill(undefined));
    expect(await isOpen(reads(room.openPlace(ONE), 128 * KILOBYTE))).toBe(true);
  });

  it('reads answers of more than eight megabytes beside each other on a heap of 512 MiB', async () => {
    const room = roomOf({ bytes: 64 * MEGABYTE });
    for (const whose of [ONE, OTHER]) expect(await reads(room.openPlace(whose), 8 * MEGABYTE + 1)).toBe('at once');
  });

  it('lets small answers in while large ones have all of their room', async () => {
    const room = roomOf();
    for (const whose of [ONE, OTHER]) for (const size of [3, 9]) void room.openPlace(whose).countRead(size * MEGABYTE);
    expect(await reads(room.openPlace(THIRD), MEGABYTE)).toBe('at once');
  });

  it.each([
    ['of which each is as large as an answer may be', 64],
    ['of a few megabytes', 3],
    ['of less than a megabyte', 0.875],
  ])('reads twenty answers of one caller %s to their end', async (_what, megabytes) => {
    const room = roomOf();
    const piece = megabytes < 1 ? MEGABYTE / 16 : MEGABYTE;
    let [at, most, done] = [0, 0, 0];
    const answer = async (): Promise<void> => {
      using place = room.openPlace(ONE);
      for (let kept = piece; kept <= megabytes * MEGABYTE; kept += piece) {
        await place.countRead(piece);
        place.setKept(kept);
        place.setPending(0);
        at += piece;
        most = Math.max(most, at);
        await new Promise(setImmediate);
      }
      at -= megabytes * MEGABYTE;
      done += 1;
    };
    await Promise.all(Array.from({ length: 20 }, answer));
    expect(done).toBe(20);
    // The three steps with what is privileged in each, and what each of the others reads as it waits.
    expect(most / MEGABYTE).toBeLessThanOrEqual(2 + 1 + 2 + 8 + 4 + 64 + 20);
  });

  it('brings answers to their end that hold all of the room while each waits for more', async () => {
    const room = roomOf({ bytes: 2 * MEGABYTE });
    const callers = [ONE, OTHER, THIRD];
    const opened = Array.from({ length: 12 }, (_, n) => room.openPlace(callers[n % 3]!));
    const waits = opened.map((place) => Promise.resolve(place.countRead(128 * KILOBYTE)));
    const grow = async (place: AnswerPlace, n: number): Promise<void> => {
      await waits[n];
      for (let pieces = 0; pieces < 20; pieces += 1) await place.countRead(128 * KILOBYTE);
      place[Symbol.dispose]();
    };
    await expect(Promise.all(opened.map(grow))).resolves.toHaveLength(12);
  });

  it('gives room back where the answer has shrunk to nothing, as a call that is over has', async () => {
    const room = roomOf();
    for (let call = 0; call < 50; call += 1) {
      using place = room.openPlace(ONE);
      expect(await reads(place, 20 * MEGABYTE)).toBe('at once');
    }
  });

  it('gives room to others that an answer does not need any more, and takes a lower step for the rest', async () => {
    const room = roomOf();
    const [first, second, third] = [room.openPlace(ONE), room.openPlace(OTHER), room.openPlace(THIRD)];
    await Promise.all([reads(first, 2 * MEGABYTE), reads(second, 2 * MEGABYTE)]);
    const waiting = reads(third, 2 * MEGABYTE);
    expect(await isOpen(waiting)).toBe(true);
    first.setKept(MEGABYTE);
    first.setPending(0);
    expect(await waiting).toBe('after a wait');
    expect(await reads(room.openPlace(ONE), 128 * KILOBYTE)).toBe('at once');
    expect(await isOpen(reads(room.openPlace(ONE), 128 * KILOBYTE))).toBe(true);
  });

  it('counts what is read anew after an answer was taken, and not what was thrown away', async () => {
    const room = roomOf({ bytes: 1 });
    await reads(room.openPlace(OTHER), 65 * KILOBYTE);
    const place = room.openPlace(ONE);
    for (let event = 0; event < 100; event += 1) {
      expect(place.countRead(60 * KILOBYTE)).toBeUndefined();
      place.setPending(0);
    }
    place.setKept(60 * KILOBYTE);
    expect(await isOpen(place.countRead(60 * KILOBYTE)!)).toBe(true);
  });

  it('lets a call go that is given up while it waits, and the next one in', async () => {
    const room = roomOf();
    const [held, given, next] = [room.openPlace(ONE), room.openPlace(ONE), room.openPlace(ONE)];
    await reads(held, 9 * MEGABYTE);
    const leaving = new AbortController();
    const waiting = given.countRead(9 * MEGABYTE, leaving.signal)!;
    const later = reads(next, 9 * MEGABYTE);
    leaving.abort(new Error('canceled'));
    await expect(waiting).rejects.toThrow('canceled');
    given[Symbol.dispose]();
    expect(await isOpen(later)).toBe(true);
    held[Symbol.dispose]();
    expect(await later).toBe('after a wait');
  });

  it('reads one largest answer after the other while memory is full, and smaller ones all the same', async () => {
    const room = roomOf({ bytes: 512 * MEGABYTE, isFull: () => true });
    const [first, second] = [room.openPlace(ONE), room.openPlace(OTHER)];
    expect(await reads(first, 7 * MEGABYTE)).toBe('at once');
    expect(await reads(second, 7 * MEGABYTE)).toBe('at once');
    expect(await reads(first, 7 * MEGABYTE)).toBe('at once');
    const waiting = reads(second, 7 * MEGABYTE);
    expect(await isOpen(waiting)).toBe(true);
    first[Symbol.dispose]();
    expect(await waiting).toBe('after a wait');
  });

  it('tells for how long nothing of an answer is read', async () => {
    const reported: string[] = [];
    const room = roomOf();
    const held = room.openPlace(ONE);
    await reads(held, 9 * MEGABYTE);
    const listener = {
      onPaused: () => reported.push('pause'),
      onResumed: () => reported.push('resume'),
      onEvicted: () => reported.push('end'),
    };
    const waiting = reads(room.openPlace(ONE, listener), 9 * MEGABYTE);
    expect(reported).toEqual(['pause']);
    held[Symbol.dispose]();
    await waiting;
    expect(reported).toEqual(['pause', 'resume']);
  });

  it('takes a turn of its caller for each 16 KiB that are read, and none for less', async () => {
    const turns: string[] = [];
    const turnOf = ({ owner }: { owner: string }) => ({
      awaitTurn: async () => void turns.push(owner),
      chargeTime: () => undefined,
    });
    const place = roomOf({ turnOf }).openPlace(ONE);
    for (let event = 0; event < 33; event += 1) {
      await place.countRead(KILOBYTE);
      place.setPending(0);
    }
    expect(turns).toEqual(['one', 'one']);
  });
});

describe('The time for which answers wait for room', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  /** Advances the clock while an answer brings `bytes` each second. */
  async function pass(seconds: number, place?: AnswerPlace, bytes = 0): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      if (place && bytes > 0) await place.countRead(bytes);
      place?.setPending(65 * KILOBYTE);
      await jest.advanceTimersByTimeAsync(1_000);
    }
  }

  it('is a minute in all, after which a call fails in a sentence that does not blame the agent', async () => {
    const room = roomOf({ bytes: 1, silentMs: Infinity });
    const [held, place, next] = [room.openPlace(ONE), room.openPlace(ONE), room.openPlace(OTHER)];
    await reads(held, 65 * KILOBYTE);
    const first = reads(place, 65 * KILOBYTE);
    await pass(40);
    held[Symbol.dispose]();
    expect(await first).toBe('after a wait');
    await reads(room.openPlace(OTHER), 2 * MEGABYTE);
    const second = reads(place, 2 * MEGABYTE);
    const failed = second.catch((error: unknown) => error);
    await pass(19);
    expect(await isOpen(second)).toBe(true);
    await pass(1);
    expect(await failed).toMatchObject({
      name: 'TooManyAnswers',
      message: 'too many large answers are being read at the same time',
    });
    const later = reads(next, 65 * KILOBYTE);
    place[Symbol.dispose]();
    expect(await isOpen(later)).toBe(false);
  });

  it('looks again whether memory is full', async () => {
    let isFull = true;
    const room = roomOf({ bytes: 512 * MEGABYTE, isFull: () => isFull });
    await reads(room.openPlace(ONE), 9 * MEGABYTE);
    const waiting = reads(room.openPlace(OTHER), 9 * MEGABYTE);
    expect(await isOpen(waiting)).toBe(true);
    isFull = false;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await waiting).toBe('after a wait');
  });

  it('ends an answer that brings nothing while another one waits for its room', async () => {
    const room = roomOf({ bytes: 1 });
    const ends: Error[] = [];
    const silent = room.openPlace(ONE, { onEvicted: (error) => ends.push(error) });
    await reads(silent, 65 * KILOBYTE);
    const waiting = reads(room.openPlace(OTHER), 65 * KILOBYTE);
    await pass(19);
    expect(ends).toEqual([]);
    await pass(2);
    expect(ends).toEqual([expect.any(TooManyAnswers)]);
    expect(await waiting).toBe('after a wait');
    await expect(silent.countRead(1)).rejects.toThrow('the answer came too slowly while others waited for its room');
  });

  it('ends no answer for its silence before others have waited as long', async () => {
    const room = roomOf({ bytes: 1 });
    const ends: Error[] = [];
    await reads(room.openPlace(ONE, { onEvicted: (error) => ends.push(error) }), 65 * KILOBYTE);
    await pass(3_600);
    const waiting = reads(room.openPlace(OTHER), 65 * KILOBYTE);
    await pass(19);
    expect(ends).toEqual([]);
    await pass(2);
    expect(await waiting).toBe('after a wait');
  });

  it('ends no answer that comes on, nor one that waits itself', async () => {
    const room = roomOf({ bytes: 1 });
    const ends: unknown[] = [];
    const end = (error: Error) => ends.push(error);
    const [large, small, other] = [
      room.openPlace(ONE, { onEvicted: end }),
      room.openPlace(OTHER, { onEvicted: end }),
      room.openPlace(THIRD, { onEvicted: end }),
    ];
    await reads(large, 2 * MEGABYTE);
    await reads(small, 65 * KILOBYTE);
    const climbing = reads(small, 2 * MEGABYTE);
    const waiting = reads(other, 65 * KILOBYTE);
    for (let second = 0; second < 50; second += 1) {
      await large.countRead(KILOBYTE);
      await jest.advanceTimersByTimeAsync(1_000);
    }
    expect(ends).toEqual([]);
    large[Symbol.dispose]();
    expect([await climbing, await waiting]).toEqual(['after a wait', 'after a wait']);
  });

  it('ends no answer whose event is being worked on, and does where nothing comes after it', async () => {
    const room = roomOf({ bytes: 1 });
    const ends: Error[] = [];
    const place = room.openPlace(ONE, { onEvicted: (error) => ends.push(error) });
    await reads(place, 65 * KILOBYTE);
    const silence = Promise.withResolvers<string>();
    const events = place.yieldConsumed(eventAnd(silence.promise))[Symbol.asyncIterator]();
    expect(await events.next()).toMatchObject({ value: 'event' });
    const waiting = reads(room.openPlace(OTHER), 65 * KILOBYTE);
    await pass(25);
    expect(ends).toEqual([]);
    const next = events.next();
    await pass(21);
    expect(ends).toHaveLength(1);
    expect(await waiting).toBe('after a wait');
    silence.resolve('late');
    await next;
  });

  it('ends an answer that brings next to nothing as one that is silent', async () => {
    const room = roomOf({ bytes: 1 });
    const ends: Error[] = [];
    const slow = room.openPlace(ONE, { onEvicted: (error) => ends.push(error) });
    await reads(slow, 65 * KILOBYTE);
    const waiting = reads(room.openPlace(OTHER), 65 * KILOBYTE);
    await pass(19, slow, 1);
    await pass(2);
    expect(ends).toHaveLength(1);
    expect(await waiting).toBe('after a wait');
  });
});

async function* eventAnd(later: Promise<string>): AsyncIterable<string> {
  yield 'event';
  yield await later;
}

import { type AnswerPlace, ReceivedAnswers, type ReceivedAnswersOptions, TooManyAnswers } from './received-answers.js';

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;
/** Four places of the first step, one of the second, and one for answers without an end. */
const BYTES = 16 * MEGABYTE;

const [ONE, OTHER] = [
  { tenant: 'a', owner: 'one' },
  { tenant: 'b', owner: 'other' },
];

function roomOf(options: ReceivedAnswersOptions = {}): ReceivedAnswers {
  return new ReceivedAnswers({ bytes: BYTES, ...options });
}

/** Reads so many bytes, and tells whether there was room at once. */
async function reads(place: AnswerPlace, bytes: number): Promise<'at once' | 'after a wait'> {
  const room = Promise.resolve(place.read(bytes, {}));
  const waited = await isOpen(room);
  await room;
  return waited ? 'after a wait' : 'at once';
}

/** Whether the promise is still open after whatever waits for nothing is done. */
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
    const places = Array.from({ length: 1_000 }, () => room.place(ONE));
    expect(places.map((place) => place.read(64 * KILOBYTE, {}))).toEqual(Array(1_000).fill(undefined));
  });

  it('has one caller wait behind its own answers, and others not at all', async () => {
    const room = roomOf();
    const [first, second, third] = [room.place(ONE), room.place(ONE), room.place(ONE)];
    await Promise.all([reads(first, MEGABYTE), reads(second, MEGABYTE)]);
    const waiting = reads(third, MEGABYTE);
    expect(await isOpen(waiting)).toBe(true);
    expect(await reads(room.place(OTHER), MEGABYTE)).toBe('at once');
    first[Symbol.dispose]();
    expect(await waiting).toBe('after a wait');
  });

  it.each([
    ['of which each is as large as an answer may be', 64],
    ['of a few megabytes', 3],
  ])('reads twenty answers of one caller %s to their end', async (_what, megabytes) => {
    const room = roomOf();
    let [at, most, done] = [0, 0, 0];
    const answer = async (): Promise<void> => {
      using place = room.place(ONE);
      for (let read = 0; read < megabytes; read += 1) {
        await place.read(MEGABYTE, {});
        place.keep((read + 1) * MEGABYTE);
        place.pending(0);
        at += 1;
        most = Math.max(most, at);
        await new Promise(setImmediate);
      }
      at -= megabytes;
      done += 1;
    };
    await Promise.all(Array.from({ length: 20 }, answer));
    expect(done).toBe(20);
    // Two of the first step, one of the second, one without an end, and what each of the others reads as it waits.
    expect(most).toBeLessThanOrEqual(2 + 8 + 64 + 20);
  });

  it('gives a place back where the answer has shrunk to nothing, as a call that is over has', async () => {
    const room = roomOf();
    for (let call = 0; call < 50; call += 1) {
      using place = room.place(ONE);
      expect(await reads(place, 20 * MEGABYTE)).toBe('at once');
    }
  });

  it('counts what is read anew after an answer was taken, and not what was thrown away', async () => {
    const place = roomOf().place(ONE);
    for (let event = 0; event < 100; event += 1) {
      expect(place.read(60 * KILOBYTE, {})).toBeUndefined();
      place.pending(0);
    }
    place.keep(60 * KILOBYTE);
    expect(place.read(60 * KILOBYTE, {})).toBeInstanceOf(Promise);
  });

  it('fails a call that has waited too long, in a sentence that does not blame the agent', async () => {
    const room = roomOf({ waitMs: 1 });
    await reads(room.place(ONE), 9 * MEGABYTE);
    await expect(reads(room.place(ONE), 9 * MEGABYTE)).rejects.toMatchObject({
      message: 'too many large answers are being read at the same time',
    });
  });

  it('lets a call go that is given up while it waits, and the next one in', async () => {
    const room = roomOf();
    const [held, given, next] = [room.place(ONE), room.place(ONE), room.place(ONE)];
    await reads(held, 9 * MEGABYTE);
    const leaving = new AbortController();
    const waiting = Promise.resolve(given.read(9 * MEGABYTE, { signal: leaving.signal }));
    const later = reads(next, 9 * MEGABYTE);
    leaving.abort(new Error('canceled'));
    await expect(waiting).rejects.toThrow('canceled');
    given[Symbol.dispose]();
    expect(await isOpen(later)).toBe(true);
    held[Symbol.dispose]();
    expect(await later).toBe('after a wait');
  });

  it('reads no largest answer while memory is full, and smaller ones all the same', async () => {
    let isFull = true;
    const room = roomOf({ isFull: () => isFull });
    using place = room.place(ONE);
    expect(await reads(place, 7 * MEGABYTE)).toBe('at once');
    const waiting = Promise.resolve(place.read(7 * MEGABYTE, {}));
    expect(await isOpen(waiting)).toBe(true);
    isFull = false;
    await waiting;
    const refused = roomOf({ isFull: () => true, waitMs: 1 });
    await expect(reads(refused.place(ONE), 9 * MEGABYTE)).rejects.toBeInstanceOf(TooManyAnswers);
  });

  it('tells while it waits that the agent is not silent', async () => {
    const room = roomOf();
    const held = room.place(ONE);
    await reads(held, 9 * MEGABYTE);
    const alive = Promise.withResolvers<void>();
    const waiting = Promise.resolve(room.place(ONE).read(9 * MEGABYTE, { alive: alive.resolve }));
    await alive.promise;
    held[Symbol.dispose]();
    await waiting;
  });

  it('takes a turn of its caller for each 16 KiB that are read, and none for less', async () => {
    const turns: string[] = [];
    const turnOf = ({ owner }: { owner: string }) => ({
      next: async () => void turns.push(owner),
      charge: () => undefined,
    });
    const place = roomOf({ turnOf }).place(ONE);
    for (let event = 0; event < 33; event += 1) {
      await place.read(KILOBYTE, {});
      place.pending(0);
    }
    expect(turns).toEqual(['one', 'one']);
  });
});

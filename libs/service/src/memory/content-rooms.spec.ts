import { jest } from '@jest/globals';
import { Metrics } from '../metrics.js';
import { type ContentPlace, ContentRoom, TooManyContents } from './content-rooms.js';
import { InFlight } from './in-flight.js';

const MEGABYTE = 1024 ** 2;
const [ONE, OTHER] = [
  { tenant: 'a', owner: 'one' },
  { tenant: 'b', owner: 'other' },
];
const { signal } = new AbortController();

const places: ContentPlace[] = [];
let inFlight: InFlight;

function roomOf(options: ConstructorParameters<typeof ContentRoom>[2] = {}): Pick<ContentRoom, 'openPlace'> {
  const room = new ContentRoom(inFlight, 8 * MEGABYTE, options);
  const open: ContentRoom['openPlace'] = (whose) => {
    const place = room.openPlace(whose);
    places.push(place);
    return place;
  };
  return { openPlace: open };
}

async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  promise.then(settle, settle);
  await new Promise(setImmediate);
  return !isSettled;
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
  const memory = { inFlightBytes: 16 * MEGABYTE, callerInFlightBytes: 8 * MEGABYTE };
  inFlight = new InFlight({ memory } as never, new Metrics());
});

afterEach(() => {
  jest.useRealTimers();
  for (const place of places.splice(0)) place[Symbol.dispose]();
  expect(inFlight.total).toBe(0);
});

describe('ContentRoom', () => {
  it('counts in flight what its places hold, until they are disposed of', async () => {
    const place = roomOf().openPlace(ONE);
    await place.holdBytes(1_000, signal);
    expect(inFlight.total).toBe(1_000);
    await place.holdBytes(MEGABYTE, signal);
    expect(inFlight.total).toBe(MEGABYTE);
    place[Symbol.dispose]();
    place[Symbol.dispose]();
    expect(inFlight.total).toBe(0);
  });

  it('has contents of a caller wait for its own, and counts nothing of what waits', async () => {
    const room = roomOf();
    const [first, privileged, third] = [room.openPlace(ONE), room.openPlace(ONE), room.openPlace(ONE)];
    await first.holdBytes(3 * MEGABYTE, signal);
    await privileged.holdBytes(3 * MEGABYTE, signal);
    const waiting = third.holdBytes(3 * MEGABYTE, signal);
    expect(await isOpen(waiting)).toBe(true);
    expect(inFlight.total).toBe(6 * MEGABYTE);
    await room.openPlace(OTHER).holdBytes(3 * MEGABYTE, signal);
    first[Symbol.dispose]();
    await waiting;
    expect(inFlight.total).toBe(9 * MEGABYTE);
  });

  it('lets places that hold what others wait for come to an end, one after the other', async () => {
    const room = roomOf();
    const ends: number[] = [];
    const read = async (index: number): Promise<void> => {
      using place = room.openPlace(ONE);
      for (let held = 1; held <= 5; held += 1) {
        await place.holdBytes(held * MEGABYTE, signal);
        await new Promise(setImmediate);
      }
      ends.push(index);
    };
    await Promise.all(Array.from({ length: 6 }, (_, index) => read(index)));
    expect(ends).toHaveLength(6);
  });

  it('has all but one place wait while what is in flight takes the share, and none with 64 KiB', async () => {
    const room = roomOf();
    const account = InFlight.accountOf(ONE);
    inFlight.addBytes(account, 0, 5 * MEGABYTE);
    await room.openPlace(ONE).holdBytes(MEGABYTE, signal);
    const waiting = room.openPlace(ONE).holdBytes(MEGABYTE, signal);
    expect(await isOpen(waiting)).toBe(true);
    await room.openPlace(ONE).holdBytes(64 * 1024, signal);
    inFlight.addBytes(account, 0, -5 * MEGABYTE);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await isOpen(waiting)).toBe(false);
  });

  it('gives a wait up after its time or with the signal, and leaves the place with what it had', async () => {
    const room = roomOf({ waitMs: 1 });
    const patient = roomOf();
    // What one room holds counts for the other: the only place there is privileged.
    for (const it of [room, room, patient]) await it.openPlace(ONE).holdBytes(3 * MEGABYTE, signal);
    const late = room.openPlace(ONE).holdBytes(3 * MEGABYTE, signal);
    const failed = late.catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(1);
    expect(await failed).toBeInstanceOf(TooManyContents);
    const leaving = new AbortController();
    const place = patient.openPlace(ONE);
    await place.holdBytes(1_000, signal);
    const waiting = place.holdBytes(3 * MEGABYTE, leaving.signal);
    leaving.abort(new Error('canceled'));
    await expect(waiting).rejects.toThrow('canceled');
    expect(inFlight.total).toBe(9 * MEGABYTE + 1_000);
  });

  it('ends the wait of a place that is disposed of, which holds nothing', async () => {
    const room = roomOf();
    const [first, , third] = [room.openPlace(ONE), await held(room.openPlace(ONE)), room.openPlace(ONE)];
    await first.holdBytes(3 * MEGABYTE, signal);
    const waiting = third.holdBytes(3 * MEGABYTE, signal);
    expect(await isOpen(waiting)).toBe(true);
    third[Symbol.dispose]();
    await waiting;
    expect(inFlight.total).toBe(6 * MEGABYTE);
  });
});

async function held(place: ContentPlace): Promise<ContentPlace> {
  await place.holdBytes(3 * MEGABYTE, signal);
  return place;
}

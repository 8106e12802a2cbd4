import { jest } from '@jest/globals';
import { Metrics } from '../metrics/metrics.js';
import { ContentRoom, type ContentPlace, TooManyContents } from './content-rooms.js';
import { InFlight } from './in-flight.js';

const MEGABYTE = 1024 ** 2;
const [ONE, OTHER] = [
  { tenant: 'a', owner: 'one' },
  { tenant: 'b', owner: 'other' },
];
const { signal } = new AbortController();

const places: ContentPlace[] = [];
let inFlight: InFlight;

function roomOf(options: ConstructorParameters<typeof ContentRoom>[2] = {}): Pick<ContentRoom, 'open'> {
  const room = new ContentRoom(inFlight, 8 * MEGABYTE, options);
  const open: ContentRoom['open'] = (whose) => {
    const place = room.open(whose);
    places.push(place);
    return place;
  };
  return { open };
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
    const place = roomOf().open(ONE);
    await place.hold(1_000, signal);
    expect(inFlight.total).toBe(1_000);
    await place.hold(MEGABYTE, signal);
    expect(inFlight.total).toBe(MEGABYTE);
    place[Symbol.dispose]();
    place[Symbol.dispose]();
    expect(inFlight.total).toBe(0);
  });

  it('has contents of a caller wait for its own, and counts nothing of what waits', async () => {
    const room = roomOf();
    const [first, privileged, third] = [room.open(ONE), room.open(ONE), room.open(ONE)];
    await first.hold(3 * MEGABYTE, signal);
    await privileged.hold(3 * MEGABYTE, signal);
    const waiting = third.hold(3 * MEGABYTE, signal);
    expect(await isOpen(waiting)).toBe(true);
    expect(inFlight.total).toBe(6 * MEGABYTE);
    await room.open(OTHER).hold(3 * MEGABYTE, signal);
    first[Symbol.dispose]();
    await waiting;
    expect(inFlight.total).toBe(9 * MEGABYTE);
  });

  it('lets places that hold what others wait for come to an end, one after the other', async () => {
    const room = roomOf();
    const ends: number[] = [];
    const read = async (index: number): Promise<void> => {
      using place = room.open(ONE);
      for (let held = 1; held <= 5; held += 1) {
        await place.hold(held * MEGABYTE, signal);
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
    inFlight.add(account, 0, 5 * MEGABYTE);
    await room.open(ONE).hold(MEGABYTE, signal);
    const waiting = room.open(ONE).hold(MEGABYTE, signal);
    expect(await isOpen(waiting)).toBe(true);
    await room.open(ONE).hold(64 * 1024, signal);
    inFlight.add(account, 0, -5 * MEGABYTE);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await isOpen(waiting)).toBe(false);
  });

  it('gives a wait up after its time or with the signal, and leaves the place with what it had', async () => {
    const room = roomOf({ waitMs: 1 });
    const patient = roomOf();
    // What one room holds counts for the other: the only place there is privileged.
    for (const it of [room, room, patient]) await it.open(ONE).hold(3 * MEGABYTE, signal);
    const late = room.open(ONE).hold(3 * MEGABYTE, signal);
    const failed = late.catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(1);
    expect(await failed).toBeInstanceOf(TooManyContents);
    const leaving = new AbortController();
    const place = patient.open(ONE);
    await place.hold(1_000, signal);
    const waiting = place.hold(3 * MEGABYTE, leaving.signal);
    leaving.abort(new Error('canceled'));
    await expect(waiting).rejects.toThrow('canceled');
    expect(inFlight.total).toBe(9 * MEGABYTE + 1_000);
  });

  it('ends the wait of a place that is disposed of, which holds nothing', async () => {
    const room = roomOf();
    const [first, , third] = [room.open(ONE), await held(room.open(ONE)), room.open(ONE)];
    await first.hold(3 * MEGABYTE, signal);
    const waiting = third.hold(3 * MEGABYTE, signal);
    expect(await isOpen(waiting)).toBe(true);
    third[Symbol.dispose]();
    await waiting;
    expect(inFlight.total).toBe(6 * MEGABYTE);
  });
});

async function held(place: ContentPlace): Promise<ContentPlace> {
  await place.hold(3 * MEGABYTE, signal);
  return place;
}

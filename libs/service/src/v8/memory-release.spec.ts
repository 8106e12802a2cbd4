import { jest } from '@jest/globals';
import { InFlight } from '../memory/in-flight.js';
import { Metrics } from '../metrics.js';
import { collectAll, MemoryRelease } from './memory-release.js';

const MEBIBYTE = 1024 ** 2;
const account = InFlight.accountOf({ tenant: '', owner: 'ann' });

describe('MemoryRelease', () => {
  const collect = jest.fn();
  let inFlight: InFlight;
  let release: MemoryRelease;
  const load = { heap: 0, busy: 0, heapBytes: () => load.heap, readUtilization: () => load.busy };

  beforeEach(() => {
    jest.useFakeTimers();
    collect.mockClear();
    const memory = { inFlightBytes: 1000 * MEBIBYTE, callerInFlightBytes: Infinity };
    inFlight = new InFlight({ memory } as never, new Metrics());
    release = new MemoryRelease(inFlight);
    Object.assign(load, { heap: 60 * MEBIBYTE, busy: 0 });
    release.watchHeap(collect, load);
  });

  afterEach(() => {
    release.onModuleDestroy();
    jest.useRealTimers();
  });

  it('collects once, when nothing large has come for a while', () => {
    inFlight.addBytes(account, 40 * MEBIBYTE);
    jest.advanceTimersByTime(5_000);
    inFlight.addBytes(account, MEBIBYTE);
    jest.advanceTimersByTime(5_000);
    expect(collect).not.toHaveBeenCalled();
    jest.advanceTimersByTime(5_000);
    expect(collect).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(60_000);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('collects after a flood that was refused, when the last of it was read', () => {
    for (let second = 0; second < 30; second += 1) {
      inFlight.noteDropped(4 * MEBIBYTE);
      jest.advanceTimersByTime(1_000);
    }
    expect(collect).not.toHaveBeenCalled();
    jest.advanceTimersByTime(10_000);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('collects once the heap has grown, whatever it grew by, and the event loop is at rest', () => {
    Object.assign(load, { heap: 300 * MEBIBYTE, busy: 0.5 });
    jest.advanceTimersByTime(30_000);
    expect(collect).not.toHaveBeenCalled();
    load.busy = 0.1;
    jest.advanceTimersByTime(5_000);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('does not look again for what a collection has left, and does for what comes on top of it', () => {
    load.heap = 300 * MEBIBYTE;
    jest.advanceTimersByTime(60_000);
    expect(collect).toHaveBeenCalledTimes(1);
    load.heap = 331 * MEBIBYTE;
    jest.advanceTimersByTime(60_000);
    expect(collect).toHaveBeenCalledTimes(1);
    load.heap = 332 * MEBIBYTE;
    jest.advanceTimersByTime(60_000);
    expect(collect).toHaveBeenCalledTimes(2);
  });

  it('counts growth from the least that V8 itself went back to', () => {
    load.heap = 40 * MEBIBYTE;
    jest.advanceTimersByTime(5_000);
    load.heap = 72 * MEBIBYTE;
    jest.advanceTimersByTime(5_000);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('leaves V8 alone after small requests, however many, and after a few large ones', () => {
    for (let count = 0; count < 2000; count += 1) inFlight.addBytes(account, 60 * 1024);
    inFlight.addBytes(account, 20 * MEBIBYTE);
    jest.advanceTimersByTime(60_000);
    expect(collect).not.toHaveBeenCalled();
  });
});

describe('collectAll', () => {
  it('collects what nobody has any more', async () => {
    const [first, second] = [{}, {}].map((it) => new WeakRef(it));
    // What a WeakRef was made of or gave stays until the turn is over.
    await new Promise((resolve) => setImmediate(resolve));
    collectAll();
    collectAll();
    expect([first!.deref(), second!.deref()]).toEqual([undefined, undefined]);
  });
});

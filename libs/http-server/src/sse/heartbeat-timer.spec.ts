import { jest } from '@jest/globals';
import { HeartbeatTimer } from './sse-stream.js';

/** Interval that no other test uses, since all timers with the same interval share one TimerWheel. */
const INTERVAL = 30_015;
let beats: string[];

beforeEach(() => {
  jest.useFakeTimers();
  beats = [];
});

afterEach(() => {
  // Whoever finds nobody left stops the timer.
  jest.advanceTimersByTime(INTERVAL);
  jest.useRealTimers();
});

function keepAlive(name: string): HeartbeatTimer {
  return new HeartbeatTimer(INTERVAL, { sendHeartbeat: () => void beats.push(name) });
}

describe('KeepAlive', () => {
  it('beats once in every interval of silence', () => {
    const all = ['a', 'b', 'c'].map(keepAlive);
    jest.advanceTimersByTime(3 * INTERVAL);
    expect(beats.toSorted().join('')).toBe('aaabbbccc');
    for (const it of all) it.stop();
  });

  it('does not beat while something is said, and no interval of silence passes after that', () => {
    const it = keepAlive('a');
    for (let said = 0; said < 10; said += 1) {
      jest.advanceTimersByTime(INTERVAL / 2);
      it.noteActivity();
    }
    expect(beats).toEqual([]);
    jest.advanceTimersByTime(INTERVAL);
    expect(beats).toEqual(['a']);
    it.stop();
  });

  it('is silent once it is stopped, also by another one in the same turn', () => {
    const others: HeartbeatTimer[] = [];
    const first = new HeartbeatTimer(INTERVAL, { sendHeartbeat: () => others.forEach((it) => it.stop()) });
    others.push(keepAlive('a'), keepAlive('b'));
    jest.advanceTimersByTime(2 * INTERVAL);
    expect(beats).toEqual([]);
    first.stop();
    first.stop();
  });
});

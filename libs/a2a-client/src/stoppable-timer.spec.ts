import { jest } from '@jest/globals';
import { StoppableTimer } from './call-deadlines.js';

describe('A stoppable timer', () => {
  let expired: number;
  const timerOf = (milliseconds: number): StoppableTimer => new StoppableTimer(milliseconds, () => (expired += 1));

  beforeEach(() => {
    expired = 0;
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('goes on with the time that it had left when it was stopped', () => {
    const timer = timerOf(100);
    jest.advanceTimersByTime(60);
    timer.stop();
    timer.stop();
    jest.advanceTimersByTime(1_000);
    timer.start();
    timer.start();
    jest.advanceTimersByTime(39);
    expect(expired).toBe(0);
    jest.advanceTimersByTime(1);
    timer.stop();
    timer.start();
    jest.advanceTimersByTime(1_000);
    expect(expired).toBe(1);
  });

  it('has all of its time again when it is refreshed, before and after a stop', () => {
    const timer = timerOf(100);
    jest.advanceTimersByTime(60);
    timer.refresh();
    jest.advanceTimersByTime(60);
    timer.stop();
    timer.refresh();
    jest.advanceTimersByTime(1_000);
    timer.start();
    jest.advanceTimersByTime(60);
    timer.refresh();
    jest.advanceTimersByTime(99);
    expect(expired).toBe(0);
    jest.advanceTimersByTime(1);
    expect(expired).toBe(1);
  });

  it('never ends after it was ended', () => {
    const timer = timerOf(100);
    timer.stopForGood();
    timer.start();
    jest.advanceTimersByTime(1_000);
    expect(expired).toBe(0);
  });

  it('never ends if its time is infinite', () => {
    const timer = timerOf(Infinity);
    timer.stop();
    timer.start();
    timer.refresh();
    jest.advanceTimersByTime(2 ** 31);
    expect(expired).toBe(0);
  });
});

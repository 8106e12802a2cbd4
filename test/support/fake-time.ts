import { jest } from '@jest/globals';

const TIMERS = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
] as const;
const REST = ['nextTick', 'queueMicrotask', 'performance', 'hrtime'] as const;

/** Stops the date while the tests of a spec run. The returned function advances it. Timers are not affected. */
export function useFakeTime(): (milliseconds: number) => void {
  beforeAll(() => {
    jest.useFakeTimers({ doNotFake: [...TIMERS, ...REST] });
  });
  afterAll(() => {
    jest.useRealTimers();
  });
  return (milliseconds) => {
    jest.setSystemTime(Date.now() + milliseconds);
  };
}

/**
 * Lets no `setTimeout` of this process fire until `jest.useRealTimers()`, so that a slow process loses no race against a
 * time limit of the tested code. The date, intervals and the promises of `node:timers/promises` are not affected.
 */
export function holdTimeouts(): void {
  const [, , ...timers] = TIMERS;
  jest.useFakeTimers({ doNotFake: [...timers, ...REST, 'Date'] });
}

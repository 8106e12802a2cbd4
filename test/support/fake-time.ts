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

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

/** From a spec: the date stands still while its tests run, and moves on by what this returns; timers are what they are. */
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

import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

const LIMIT = Symbol.for('TEST_TIMEOUT_SYMBOL');
const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });

/** What test files import as `@jest/globals`: the part of it that they use, for all files of a worker. */
export const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  /** Fakes the timers of the whole process, but for what its own streams, sockets and connections continue by. */
  useFakeTimers: ({ doNotFake = [] } = {}) =>
    timers.useFakeTimers({ doNotFake: [...doNotFake, 'nextTick', 'queueMicrotask'] }),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (milliseconds) => timers.advanceTimersByTime(milliseconds),
  advanceTimersByTimeAsync: (milliseconds) => timers.advanceTimersByTimeAsync(milliseconds),
  setSystemTime: (time) => timers.setSystemTime(time),
  /** Milliseconds that each test and hook of the file may take. */
  setTimeout: (milliseconds) => void (globalThis[LIMIT] = milliseconds),
};

/** For the next file. */
export function restoreAll() {
  timers.useRealTimers();
  mocker.restoreAllMocks();
  delete globalThis[LIMIT];
}

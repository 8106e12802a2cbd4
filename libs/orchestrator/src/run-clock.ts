/** Clock and timers of runs. */
export interface RunClock {
  /** Returns the current time in milliseconds of the epoch. */
  now(): number;
  /**
   * Calls back at a time in milliseconds of the epoch; soon if the time has passed.
   * @returns a function that cancels the callback
   */
  at(time: number, callback: () => void): () => void;
}

/** Longest delay of a Node.js timer, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const SYSTEM_CLOCK: RunClock = {
  now: () => Date.now(),
  at(time, callback) {
    const left = () => Math.max(0, time - Date.now());
    const arm = (): NodeJS.Timeout =>
      left() > LONGEST_TIMER ? setTimeout(again, LONGEST_TIMER) : setTimeout(callback, left());
    const again = (): void => {
      timer = arm();
    };
    let timer = arm();
    return () => clearTimeout(timer);
  },
};

/** Clock and timers of runs. */
export interface RunClock {
  /** Returns the current time in milliseconds of the epoch. */
  now(): number;
  /**
   * Calls back at a time in milliseconds of the epoch; soon if the time has passed.
   * @returns a function that cancels the callback
   */
  scheduleAt(time: number, callback: () => void): () => void;
}

/** Longest delay of a Node.js timer, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const SYSTEM_CLOCK: RunClock = {
  now: () => Date.now(),
  scheduleAt(time, callback) {
    const remainingTime = () => Math.max(0, time - Date.now());
    const armTimer = (): NodeJS.Timeout =>
      remainingTime() > LONGEST_TIMER ? setTimeout(rearmTimer, LONGEST_TIMER) : setTimeout(callback, remainingTime());
    const rearmTimer = (): void => {
      timer = armTimer();
    };
    let timer = armTimer();
    return () => clearTimeout(timer);
  },
};

/** What time it is for runs, and when something is due. */
export interface RunClock {
  /** In milliseconds of the epoch. */
  now(): number;
  /**
   * Calls back once it is that late, in milliseconds of the epoch; soon where it is already.
   * @returns what makes it be forgotten
   */
  at(time: number, callback: () => void): () => void;
}

/** What a timer of this runtime can hold, in milliseconds. */
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

import { computeBackoff } from './backoff.js';

describe('backoff', () => {
  it('doubles from half a second and stops at fifteen', () => {
    expect([1, 2, 3, 4, 5, 6, 9].map((failures) => computeBackoff(failures, 1))).toEqual([
      500, 1000, 2000, 4000, 8000, 15_000, 15_000,
    ]);
  });

  it('spreads the waits over the upper half', () => {
    expect([computeBackoff(1, 0), computeBackoff(1, 0.5)]).toEqual([250, 375]);
  });
});

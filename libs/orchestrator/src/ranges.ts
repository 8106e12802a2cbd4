/** Inclusive ranges of the numbers in a definition. */
export const RANGES = {
  attempts: [1, 100],
  factor: [1, 100],
  jitter: [0, 1],
  concurrency: [1, 1_000],
  maxItems: [1, 10_000],
  parallel: [1, 10_000],
  max_iterations: [1, 100],
  loops: [0, 100],
} as const;

/** Percentage from 0% to 100%. */
export const PERCENTAGE = /^(100(\.0+)?|\d{1,2}(\.\d+)?)%$/;

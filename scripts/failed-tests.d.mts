/** See failed-tests.mjs. */
export interface FailedTest {
  file: string;
  name: string;
  message: string;
}

export function recordFailedTests(tests: readonly FailedTest[]): void;

/** Failed test, as failed-tests.mjs reports it. */
export interface FailedTest {
  file: string;
  name: string;
  message: string;
}

export function recordFailedTests(tests: readonly FailedTest[]): void;

/** Whether a test of this file has failed so far (`test/environment.mjs` sees it). */
export function hasFailedTests(): boolean {
  return (globalThis as { failedTests?: number }).failedTests !== undefined;
}

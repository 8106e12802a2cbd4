/** True if a test of this file has failed so far (recorded by `test/environment.mjs`). */
export function hasFailedTests(): boolean {
  return (globalThis as { failedTests?: number }).failedTests !== undefined;
}

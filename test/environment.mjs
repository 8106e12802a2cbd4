import { TestEnvironment } from 'jest-environment-node';

/** Node's, which counts the tests of a file that failed: what they worked with can tell more then. */
export default class CountingEnvironment extends TestEnvironment {
  handleTestEvent({ name, test }) {
    if (name === 'test_done' && test.errors.length > 0) this.global.failedTests = (this.global.failedTests ?? 0) + 1;
  }
}

import { addCauses } from './error-causes.mjs';
import { restoreAll } from './jest-globals.mjs';

/**
 * Where a test file runs: the worker's process itself, which is for the next file what it was for this one. It counts the
 * tests of a file that failed: what they worked with can tell more then.
 */
export default class ProcessEnvironment {
  global = globalThis;
  #console = console;
  #exit = Object.getOwnPropertyDescriptor(process, 'exit');
  #env = { ...process.env };

  setup() {
    delete globalThis.failedTests;
  }

  teardown() {
    restoreAll();
    globalThis.console = this.#console;
    Object.defineProperty(process, 'exit', this.#exit);
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, this.#env);
  }

  handleTestEvent({ name, test }) {
    if (name !== 'test_done' || test.errors.length === 0) return;
    globalThis.failedTests = (globalThis.failedTests ?? 0) + 1;
    for (const error of test.errors.flat()) addCauses(error);
  }

  /** There is none. */
  getVmContext() {
    return null;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }
}

import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import './support/typescript-hooks.mjs';

const require = createRequire(import.meta.url);
/** Where jest-circus keeps who listens to a file's tests. */
const LISTENERS = Symbol.for('EVENT_HANDLERS');

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: new URL('jest-globals.mjs', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});
process.setSourceMapsEnabled(true);

let files = 0;

/**
 * Jest's runtime, which loads a test file and what it imports as Node does: a module is loaded once in a worker, however
 * many files import it. Jest's own loads packages and libs anew for each file, which takes longer than most files' tests.
 * What a file leaves in a module, the files after it find there.
 */
class Runtime {
  async unstable_importModule(path) {
    // Jest's, which knows nothing of the sources: Node maps stacks to them itself.
    delete Error.prepareStackTrace;
    files += 1;
    await import(`${pathToFileURL(path).href}?file=${files}`);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** jest-circus, whose state is that of one file. */
  requireInternalModule(path) {
    delete require.cache[path];
    delete globalThis[LISTENERS];
    return require(path);
  }

  requireModule(path) {
    return require(path);
  }

  setGlobalsForRuntime() {}
  enterTestCode() {}
  leaveTestCode() {}
  getSourceMaps() {}
  getAllCoverageInfoCopy() {}
  teardown() {}
}

// What `require()` of this file gives.
export { Runtime as 'module.exports' };

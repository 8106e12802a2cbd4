import { createRequire, registerHooks, setSourceMapsSupport } from 'node:module';
import { pathToFileURL } from 'node:url';
import { keepConnections } from './kept-connections.mjs';
import './support/typescript-hooks.mjs';
import { V8Coverage } from './support/v8-coverage.mjs';

const require = createRequire(import.meta.url);
/** Where jest-circus keeps who listens to a file's tests. */
const LISTENERS = Symbol.for('EVENT_HANDLERS');

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: new URL('jest-globals.mjs', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});
// Those of packages are not read: there are thousands.
setSourceMapsSupport(true);
keepConnections();

/** What jest-circus puts into a file's world. */
const WORDS = ['describe', 'it', 'test', 'beforeAll', 'beforeEach', 'afterEach', 'afterAll'];
/** Those of the file that is loaded at the moment. */
let current = {};
const lasting = Object.fromEntries(WORDS.map((word) => [word, lastingWord([word])]));
let files = 0;
const coverage = new V8Coverage();

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
    current = Object.fromEntries(WORDS.map((word) => [word, globalThis[word]]));
    Object.assign(globalThis, lasting);
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

  collectV8Coverage() {
    return coverage.start();
  }

  stopCollectingV8Coverage() {
    return coverage.stop();
  }

  getAllV8CoverageInfoCopy() {
    return coverage.result();
  }

  teardown() {}
}

/**
 * A word such as `it`, or a part of it, that a module may keep: whichever file comes to use it, its test is that file's. What
 * jest-circus gives is of one file alone, and what is said to it afterwards is lost.
 */
function lastingWord(path) {
  const meant = () => path.reduce((words, word) => words[word], current);
  const parts = new Map();
  const partOf = (word) => {
    if (!parts.has(word)) parts.set(word, lastingWord([...path, word]));
    return parts.get(word);
  };
  return new Proxy(() => undefined, {
    apply: (_target, _self, args) => meant()(...args),
    get: (_target, word) => (typeof meant()[word] === 'function' ? partOf(word) : meant()[word]),
  });
}

// What `require()` of this file gives.
export { Runtime as 'module.exports' };

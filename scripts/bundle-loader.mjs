// Loads the files of the programs as scripts, with what V8 had compiled of them by the end of a process before: nearly all
// that a start needs. Node keeps as much of a module as is compiled when it is loaded, before any of it has run.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** Where Node itself keeps what this version of it compiles with these flags; absent where it is to keep nothing. */
const KEPT = getCompileCacheDir();
/** Before V8 forgets what only the start has needed. */
const START_MS = 8_000;

const modules = new Map();
/** Of which nothing is kept that this process could use. */
let fresh = [];

if (KEPT !== undefined) {
  setTimeout(keep, START_MS).unref();
  process.once('exit', keep);
}

/**
 * Gives what a file exports.
 * @param {string} id its path
 * @param {string} folder what that is relative to
 */
export function load(id, folder) {
  const file = join(folder, id);
  const known = modules.get(file);
  if (known) return known.exports;
  const module = { exports: {} };
  modules.set(file, module);
  const [own, others] = [dirname(file), createRequire(file)];
  const require = (name) => (name.startsWith('.') ? load(name, own) : others(name));
  const run = compiled(file).runInThisContext();
  run(module.exports, Object.assign(require, { resolve: others.resolve }), module, file, own, (url) => import(url));
  return module.exports;
}

/** Names of files change with what is in them, so that whatever is kept under a name is of this file. */
function compiled(file) {
  const kept = KEPT && join(KEPT, `${basename(file)}.code`);
  const cachedData = kept && readKept(kept);
  // The files are in ASCII.
  const script = new Script(readFileSync(file, 'latin1'), { filename: file, cachedData });
  if (kept && script.cachedDataRejected !== false) fresh.push({ script, kept });
  return script;
}

function readKept(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

function keep() {
  for (const { script, kept } of fresh) {
    try {
      // Others may read or write it at the same time.
      writeFileSync(`${kept}.${process.pid}`, script.createCachedData(), { mode: 0o600 });
      renameSync(`${kept}.${process.pid}`, kept);
    } catch {
      // Where nothing can be written, nothing is kept.
      break;
    }
  }
  fresh = [];
}

// Loads the files of the programs as scripts, with what V8 had compiled of them by the end of a process before: nearly all
// that a start needs. Node keeps as much of a module as is compiled when it is loaded, before any of it has run.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** Folder in which Node caches compiled code for its version and flags; `undefined` if the cache is disabled. */
const KEPT = getCompileCacheDir();
/** Milliseconds after which compiled code is stored: V8 later discards the code that only the start needed. */
const START_MS = 8_000;

const modules = new Map();
/** Loaded scripts for which the cache had no usable code. */
let fresh = [];

if (KEPT !== undefined) {
  setTimeout(keep, START_MS).unref();
  process.once('exit', keep);
}

/**
 * Returns the exports of a file, and loads the file if necessary.
 * @param {string} id path of the file
 * @param {string} folder folder to which the path is relative
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

/**
 * Compiles a file, from the cache if possible. The name of a file changes with its content, so a cache entry always
 * fits the file of its name.
 */
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

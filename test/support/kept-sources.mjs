import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { version } from '@swc/core';

const ROOT = resolve(import.meta.dirname, '../..');
/** Folder of the compiled sources, for all processes of tests in this checkout. */
const FOLDER = join(ROOT, 'node_modules/.cache/parley-sources');
/** Compiler and settings: besides the source, the result depends on them alone. */
const COMPILER = `${version}\n${readFileSync(join(ROOT, '.swcrc'), 'utf8')}`;
let canKeep = true;

/**
 * Returns a compiled source: the kept one if it was made of the same source, else the one that `compile` returns. The
 * folder has one file for each source.
 */
export function keptSource(filename, source, compile) {
  const file = join(FOLDER, `${digest(filename)}.js`);
  const mark = `//${digest(COMPILER, filename, source)}\n`;
  const kept = read(file);
  // The mark has no line of its own: the lines of the source map are those of the result alone.
  if (kept?.startsWith(mark)) return kept.slice(mark.length);
  const code = compile();
  if (canKeep) write(file, mark + code);
  return code;
}

function digest(...parts) {
  return createHash('sha1').update(parts.join('\0')).digest('hex');
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Writes a file as a whole, since other processes read it. A folder that cannot be written is left alone. */
function write(file, text) {
  try {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(`${file}.${process.pid}`, text);
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    canKeep = false;
  }
}

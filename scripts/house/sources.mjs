/** The sources that Parley ships outside the console: libraries, service, command and agent. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../prepare.mjs';

const FOLDERS = ['libs', 'src', 'apps/cli', 'apps/agent'];
const SKIPPED = new Set(['node_modules', 'dist', 'testing']);
const SHIPPED = /^(?:libs|src|apps\/(?:cli|agent))\/(?!.*\/testing\/)(?!.*\.(?:spec|d)\.ts$).*\.ts$/;
const HEAD = 300;

/** Returns the path and text of each source, without specs, folders `testing` and generated files. */
export function shippedSources(root = ROOT) {
  return FOLDERS.flatMap((folder) => pathsUnder(root, folder))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .filter(isWritten);
}

/** True if a path is that of a source that is measured. */
export function isShipped(path) {
  return SHIPPED.test(path);
}

/** True if people wrote a source: a generated source declares that in its first lines. */
export function isWritten({ text }) {
  return !text.slice(0, HEAD).includes('@generated');
}

/** Returns the library or program of a path: `libs/tasks`, `apps/cli` or `src`. */
export function packageOf(path) {
  return path.startsWith('src/') ? 'src' : path.split('/').slice(0, 2).join('/');
}

/** Returns the number of lines of all sources. */
export function countLines(sources) {
  return sources.reduce((sum, { text }) => sum + text.trimEnd().split('\n').length, 0);
}

function pathsUnder(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : pathsUnder(root, path);
    return isShipped(path) ? [path] : [];
  });
}

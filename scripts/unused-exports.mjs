/**
 * The index of a library exports what others import, and nothing else. Prints one line per export that nobody outside the
 * library imports (tests count), and per line that this check cannot read; exits 1 when there is one.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { ROOT } from './prepare.mjs';

const FOLDERS = ['libs', 'src', 'apps', 'test', 'scripts'];
const CODE = /\.(ts|tsx|mts|mjs)$/;
const SKIPPED = new Set(['node_modules', 'results']);

/** What leads to an index: its name, or its path in the build. */
const LIB = String.raw`'(?:#libs/|dist/libs/)([\w-]+)(?:/src/index\.js)?'`;
const MENTION = new RegExp(LIB, 'g');
/** `import { a, type b as c } from '…'` and `export { … } from '…'`. */
const NAMED = new RegExp(String.raw`\b(?:import|export)\s+(?:type\s+)?\{([^{}]*)\}\s+from\s+${LIB}`, 'g');
/** `const { a } = await import(… '…')`. */
const AWAITED = new RegExp(String.raw`\bconst\s+\{([^{}]*)\}\s*=\s*await\s+import\([^;{}]*?${LIB}`, 'g');
/** `import('…').A`. */
const OF_A_TYPE = new RegExp(String.raw`\bimport\(${LIB}\)\.(\w+)`, 'g');
const EXPORTED = /^export\s+(?:type\s+)?\{([^{}]*)\}\s+from\s+'[^']+';$/gm;

/** What the package offers to others as well. */
const OFFERED = new Set(['agent-sdk', 'client']);

const LIBS = readdirSync(join(ROOT, 'libs')).filter((lib) => existsSync(join(ROOT, indexOf(lib))));
/** By library: the names that others import. */
const imported = new Map(LIBS.map((lib) => [lib, new Set()]));
const breaches = [];
for (const file of FOLDERS.flatMap((folder) => codeUnder(join(ROOT, folder)))) noteImports(file);
for (const lib of LIBS) if (!OFFERED.has(lib)) noteExports(lib);
for (const breach of breaches) console.log(breach);
process.exit(breaches.length > 0 ? 1 : 0);

function codeUnder(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? codeUnder(path) : CODE.test(entry.name) ? [path] : [];
  });
}

function noteImports(path) {
  const file = relative(ROOT, path);
  const text = readFileSync(path, 'utf8');
  const found = [
    ...[...text.matchAll(NAMED), ...text.matchAll(AWAITED)].map(([, names, lib]) => [
      lib,
      namesIn(names).map(({ name }) => name),
    ]),
    ...[...text.matchAll(OF_A_TYPE)].map(([, lib, name]) => [lib, [name]]),
  ];
  const mentions = [...text.matchAll(MENTION)].length;
  if (mentions > found.length) breaches.push(`${file}: imports a library other than by the names of what it needs`);
  for (const [lib, names] of found) {
    if (!imported.has(lib)) breaches.push(`${file}: there is no library ${lib}`);
    else if (!file.startsWith(join('libs', lib) + sep)) for (const name of names) imported.get(lib).add(name);
  }
}

function noteExports(lib) {
  const file = indexOf(lib);
  const text = readFileSync(join(ROOT, file), 'utf8');
  const rest = text.replace(EXPORTED, '').trim();
  if (rest !== '') breaches.push(`${file}: an index has nothing but exports by name: ${rest.split('\n')[0]}`);
  const names = [...text.matchAll(EXPORTED)].flatMap(([, list]) => namesIn(list).map(({ as }) => as));
  for (const name of names) if (!imported.get(lib).has(name)) breaches.push(`${file}: nobody imports ${name}`);
}

/** Each with what it is called from there on. */
function namesIn(list) {
  return list
    .split(',')
    .map((entry) => entry.trim().replace(/^type\s+/, ''))
    .filter((entry) => entry !== '')
    .map((entry) => entry.split(/\s+as\s+|\s*:\s*/))
    .map(([name, as = name]) => ({ name, as }));
}

function indexOf(lib) {
  return join('libs', lib, 'src', 'index.ts');
}

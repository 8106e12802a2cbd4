/**
 * Finds forbidden words (forbidden-words.mjs) in code, comments, messages and docs: in the named files, or in the whole
 * project. String literals of specs and the folder test/ are not checked. Prints one line per breach, and exits with 1
 * if there is one.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { basename, extname, join, relative, resolve, sep } from 'node:path';
import { EXCEPTIONS, FORBIDDEN_PATTERNS, FORBIDDEN_WORDS } from './forbidden-words.mjs';
import { ROOT } from './prepare.mjs';

const FOLDERS = ['src', 'apps', 'libs', 'scripts', 'docs', 'examples', 'deploy'];
const FILES = [
  'README.md',
  'llms.txt',
  'CONTRIBUTING.md',
  'docker-compose.yml',
  'Dockerfile',
  '.dependency-cruiser.cjs',
];
const CODE = new Set(['.ts', '.tsx', '.mjs', '.cjs', '.js']);
const TEXT = new Set([...CODE, '.md', '.yml', '.yaml', '.json', '.html', '.css']);
const SKIPPED = new Set(['node_modules', 'dist']);
const BLOCK_COMMENT = /\/\*[^]*?\*\//g;
const LINE_COMMENT = /(?<=^|\s)\/\/ .*/gm;
const TEMPLATE = /`(?:[^`\\]|\\.)*`/g;
const QUOTED = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;

const given = process.argv.slice(2).map((file) => resolve(file));
const files =
  given.length > 0
    ? given
    : [...FOLDERS.flatMap((it) => filesUnder(join(ROOT, it))), ...FILES.map((it) => join(ROOT, it))];
const breaches = files.flatMap((file) => [...nameBreaches(file), ...textBreaches(file)]);
for (const breach of breaches) console.log(breach);
process.exit(breaches.length > 0 ? 1 : 0);

function filesUnder(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory()
      ? filesUnder(path)
      : TEXT.has(extname(path)) || entry.name === 'Dockerfile'
        ? [path]
        : [];
  });
}

function pathOf(file) {
  return relative(ROOT, file).split(sep).join('/');
}

function nameBreaches(file) {
  const path = pathOf(file);
  return phrasesIn(wordsOf(path), 'name').map((it) => `${path}: "${it.phrase}" in its path; say ${it.instead}`);
}

function textBreaches(file) {
  if (basename(file) === 'forbidden-words.mjs') return [];
  const path = pathOf(file);
  const text = withoutExceptions(readFileSync(file, 'utf8'), path);
  if (text.slice(0, 300).includes('@generated')) return [];
  const names = CODE.has(extname(path)) ? withoutSentences(text).split('\n') : [];
  // What a test says of itself and for itself is its own.
  const sentences = (path.endsWith('.spec.ts') ? blanked(text, QUOTED) : text).split('\n');
  return sentences.flatMap((line, index) =>
    breachesOf(line, names[index] ?? '', path).map((what) => `${path}:${index + 1}: ${what}`),
  );
}

function breachesOf(sentence, name, path) {
  const isMeant = ({ pattern, files }) => (files?.test(path) ?? true) && pattern.test(sentence);
  const patterns = FORBIDDEN_PATTERNS.filter(isMeant);
  const phrases = new Set([...phrasesIn(wordsOf(sentence), 'sentence'), ...phrasesIn(wordsOf(name), 'name')]);
  return [
    ...patterns.map(({ what, instead }) => `${what}; say ${instead}`),
    ...[...phrases].map(({ phrase, instead }) => `"${phrase}"; say ${instead}`),
  ];
}

function withoutExceptions(text, path) {
  return EXCEPTIONS.filter((it) => !it.in || it.in.test(path)).reduce((it, { text: kept }) => {
    return blanked(it, kept instanceof RegExp ? new RegExp(kept.source, 'g') : kept);
  }, text);
}

/** Returns code without its comments and string literals, so that mostly names are left. */
function withoutSentences(text) {
  return [BLOCK_COMMENT, LINE_COMMENT, TEMPLATE, QUOTED].reduce(blanked, text);
}

/** Replaces the matches of a pattern by spaces. No line moves. */
function blanked(text, pattern) {
  return text.replaceAll(pattern, (found) => found.replaceAll(/[^\n]/g, ' '));
}

/** Returns the words of a text, and the words of which its names consist: in lower case, with a space around each. */
function wordsOf(text) {
  const words = text.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? [];
  return ` ${words.join(' ').toLowerCase()} `;
}

function phrasesIn(words, where) {
  return FORBIDDEN_WORDS.filter((it) => where === 'name' || it.in === undefined).filter(
    ({ phrase }) => words.includes(` ${phrase} `) || words.includes(` ${phrase}s `),
  );
}

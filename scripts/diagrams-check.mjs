/**
 * Parses the Mermaid diagrams of the docs, or of the files that are named, and looks up what their labels write as
 * code: a class or function (`RequestHandler`), its methods (`getTask()`), a path (`libs/tasks`), a route
 * (`/api/conversations`). Labels in words are not looked up. Prints one line per breach and exits 1 when there is one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseDiagram } from './diagram.mjs';
import { ROOT } from './prepare.mjs';

const SOURCES = ['libs', 'src', 'apps'];
const SKIPPED = new Set(['node_modules', 'dist']);
const BLOCK = /^```mermaid\n([^]*?)^```/gm;
const DECLARED = /^(?:export )?(?:abstract |async )*(?:class|interface|function|const|type|enum)\*? (\w+)/gm;

const given = process.argv.slice(2).map((file) => resolve(file));
const pages = given.length > 0 ? given : [join(ROOT, 'README.md'), ...filesUnder(join(ROOT, 'docs'), '.md')];
const sources = SOURCES.flatMap((it) => filesUnder(join(ROOT, it), '.ts')).map((it) => readFileSync(it, 'utf8'));
const declarations = declarationsIn(sources);

const breaches = pages.flatMap(breachesOf);
for (const breach of breaches) console.log(breach);
process.exit(breaches.length > 0 ? 1 : 0);

function breachesOf(page) {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(BLOCK)].flatMap(({ 1: source, index }) => {
    const place = `${relative(ROOT, page)}:${text.slice(0, index).split('\n').length}`;
    const { problems, participants, calls } = parseDiagram(source);
    const unknown = [...participants.values()].flatMap(unknownIn);
    const missing = calls.flatMap(({ method, to }) => missingMethods([method], codeOf(participants.get(to) ?? '')));
    return [...problems, ...new Set([...unknown, ...missing])].map((what) => `${place}: ${what}`);
  });
}

/** Returns the names that a label writes as code and that no source declares. */
function unknownIn(label) {
  const name = codeOf(label);
  return label.split('<br/>').flatMap((line) => {
    if (isName(line)) return declarations.has(line) ? [] : [`there is no ${line}`];
    if (/^\w+\(\)(, \w+\(\))*$/.test(line)) return missingMethods(line.replaceAll('()', '').split(', '), name);
    if (/^(libs|src|apps)\/\S+$/.test(line)) return existsSync(join(ROOT, line)) ? [] : [`there is no file ${line}`];
    if (/^\/[a-z]\S*$/.test(line)) return isRoute(line) ? [] : [`there is no route ${line}`];
    return [];
  });
}

function missingMethods(methods, name) {
  if (name === undefined) return [];
  const texts = declarations.get(name) ?? [];
  const isDeclared = (method) => texts.some((text) => new RegExp(`^  (?:[a-z]+ )*\\*?${method}[<(]`, 'm').test(text));
  return methods.filter((it) => !isDeclared(it)).map((it) => `${name} has no ${it}()`);
}

/** Returns the class or function that a label names first. */
function codeOf(label) {
  return label.split('<br/>').find(isName);
}

/** True for a name of two words or more: a single word may be plain English. */
function isName(line) {
  return /^(?:[A-Z][a-z0-9]*[A-Z]\w*|[a-z]+[A-Z]\w*)$/.test(line);
}

function isRoute(route) {
  const path = route.replaceAll(/\{(\w+)\}/g, ':$1').replace(/\/$/, '');
  const [, api, name, rest = ''] = /^\/(api)\/([\w-]+)(\/.*)?$/.exec(path) ?? [];
  const text = api
    ? (it) => it.includes(`@Controller('api/${name}')`) && (rest === '' || it.includes(`'${rest.slice(1)}'`))
    : (it) => it.includes(`'${path.replace(/^\/a2a(?=\/)/, '')}'`);
  return sources.some(text);
}

function declarationsIn(texts) {
  const found = new Map();
  for (const text of texts)
    for (const [, name] of text.matchAll(DECLARED)) found.set(name, [...(found.get(name) ?? []), text]);
  return found;
}

function filesUnder(folder, end) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile() && it.name.endsWith(end) && !it.name.endsWith('.spec.ts'))
    .map((it) => join(it.parentPath, it.name))
    .filter(
      (path) =>
        !relative(ROOT, path)
          .split('/')
          .some((it) => SKIPPED.has(it)),
    );
}

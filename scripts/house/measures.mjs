/** Quality measures of the repository, with their targets. Smaller is better for each. */
import { readFileSync } from 'node:fs';
import { docstringsOf } from './docstrings.mjs';
import { changelog, longestRelease, longSubjects } from './history.mjs';
import { importGraph, isIndex, longestChain, singleImporterFiles } from './imports.mjs';
import { declaredNames, isOneWord, sharedTypeNames, widespreadNames } from './names.mjs';
import { countLines } from './sources.mjs';

/**
 * Measures by id. `isRuntime` marks those that need a running service. `isCounted` marks those whose target features
 * have outgrown: they only have to be no worse than recorded.
 */
export const MEASURES = {
  oneWordNames: { title: 'function names of one word, %', target: 25 },
  clauseDocstrings: { title: 'docstrings that begin with a clause, %', target: 8 },
  sharedTypeNames: { title: 'type names in more than one library', target: 0 },
  widespreadNames: { title: 'function names in more than 5 files', target: 0 },
  strayErrors: { title: 'classes that extend Error outside ParleyFault', target: 45 },
  importChain: { title: 'longest import chain, files', target: 50 },
  sendMessageFiles: { title: 'files of one warm SendMessage', target: 60, isRuntime: true },
  runFiles: { title: 'files of a run of three nodes', target: 110, isRuntime: true },
  shippedLines: { title: 'shipped lines outside the console', target: 68_000, isCounted: true },
  singleImporterFiles: { title: 'files with a single importer, %', target: 30 },
  changelogLines: { title: 'lines of the longest release in the changelog', target: 150 },
  longSubjects: { title: 'commit subjects above 72 characters', target: 0 },
};

/** Returns the exceptions to `widespreadNames`: names with the reason for each. */
export function exceptions() {
  return JSON.parse(readFileSync(new URL('exceptions.json', import.meta.url), 'utf8'));
}

/** Returns the places of names: one-word functions, shared types and widespread functions. */
export function measureNames(sources, excepted = exceptions()) {
  const declared = sources.map(declaredNames);
  const functions = declared.flatMap((it) => it.functions);
  const oneWord = functions.filter(({ name }) => isOneWord(name));
  const types = declared.flatMap((it) => it.types);
  const [shared, widespread] = [sharedTypeNames(types), widespreadNames(functions, excepted)];
  return {
    oneWordNames: { value: percentOf(oneWord, functions), places: oneWord },
    sharedTypeNames: { value: shared.length, places: shared.flatMap(({ places }) => places) },
    widespreadNames: { value: widespread.length, places: widespread.flatMap(({ places }) => places) },
  };
}

/** Returns the docstrings that begin with a clause. */
export function measureDocstrings(sources) {
  const docstrings = sources.flatMap(docstringsOf);
  const clauses = docstrings.filter(({ isClause }) => isClause);
  const places = clauses.map(({ text, ...place }) => ({ ...place, name: text }));
  return { clauseDocstrings: { value: percentOf(clauses, docstrings), places } };
}

/**
 * Returns the classes that extend Error directly. Errors that are caught in another library must extend ParleyFault.
 */
export function measureErrors(sources) {
  const places = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^.*\bclass (?!ParleyFault\b)(\w+) extends Error\b/gm)].map(({ 1: name, index }) => ({
      name,
      path,
      line: text.slice(0, index).split('\n').length,
    })),
  );
  return { strayErrors: { value: places.length, places } };
}

/** Returns all measures that need no running service, by id. A value is `undefined` if it cannot be measured. */
export function measureAll(sources, since) {
  const single = singleImporterFiles(sources);
  const subjects = longSubjects(since);
  return {
    ...measureNames(sources),
    ...measureDocstrings(sources),
    ...measureErrors(sources),
    importChain: { value: longestChain(importGraph(sources)).length },
    shippedLines: { value: countLines(sources) },
    singleImporterFiles: {
      value: percentOf(
        single,
        sources.filter(({ path }) => !isIndex(path)),
      ),
    },
    changelogLines: { value: longestRelease(changelog()) },
    longSubjects: { value: subjects?.length },
  };
}

/** Returns a percentage with one decimal. */
function percentOf(part, whole) {
  return Math.round((1_000 * part.length) / Math.max(1, whole.length)) / 10;
}

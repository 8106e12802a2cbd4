/** The import graph of sources. Imports of types count; an index only passes on what others declare. */
import { posix } from 'node:path';

const IMPORT = /^[ \t]*(?:import|export)\s(?:([^'";]*?)\sfrom\s+)?'([^']+)'/gm;
const COMMENT = /\/\*[^]*?\*\//g;
const INDEX = /^libs\/[^/]+\/src\/index\.ts$/;

/** True if a path is that of a library's index. */
export function isIndex(path) {
  return INDEX.test(path);
}

/** Returns the sources that each source imports, by path. */
export function importGraph(sources) {
  const known = new Set(sources.map(({ path }) => path));
  return new Map(
    sources.map((source) => [
      source.path,
      new Set(
        importsOf(source)
          .map(({ path }) => path)
          .filter((it) => known.has(it)),
      ),
    ]),
  );
}

/** Returns the longest chain of imports, from the importer down, without the indexes. The graph has no cycle. */
export function longestChain(graph) {
  const chains = new Map();
  const chainOf = (path) => {
    if (!chains.has(path)) {
      chains.set(path, []);
      const below = longestOf([...graph.get(path)].map(chainOf));
      chains.set(path, isIndex(path) ? below : [path, ...below]);
    }
    return chains.get(path);
  };
  return longestOf([...graph.keys()].map(chainOf));
}

/**
 * Returns the sources that exactly one other source imports. An import from an index counts as an import of the source
 * that declares the name.
 */
export function singleImporterFiles(sources) {
  const imports = new Map(sources.map((source) => [source.path, importsOf(source)]));
  const importers = new Map(sources.filter(({ path }) => !isIndex(path)).map(({ path }) => [path, new Set()]));
  const declarersOf = ({ path, names }) => {
    if (!isIndex(path)) return [path];
    const passed = (imports.get(path) ?? []).filter((it) => it.names.some((name) => names.includes(name)));
    return passed.flatMap((it) => declarersOf({ path: it.path, names }));
  };
  for (const [importer, imported] of imports) {
    if (!isIndex(importer)) for (const path of imported.flatMap(declarersOf)) importers.get(path)?.add(importer);
  }
  return [...importers].filter(([, of]) => of.size === 1).map(([path]) => path);
}

/** Returns what a source imports or re-exports: paths, with the names before `as`. */
function importsOf({ path, text }) {
  return [...text.replace(COMMENT, '').matchAll(IMPORT)].map(([, list = '', name]) => ({
    path: pathOf(name, path),
    names: [...list.matchAll(/(?<![\w$])(?!type\b)(\w+)(?:\s+as\s+\w+)?/g)].map(([, it]) => it),
  }));
}

function pathOf(name, importer) {
  if (name.startsWith('#libs/')) return `libs/${name.slice('#libs/'.length)}/src/index.ts`;
  return name.startsWith('.') ? posix.join(posix.dirname(importer), name.replace(/\.js$/, '.ts')) : undefined;
}

function longestOf(chains) {
  return chains.reduce((longest, chain) => (chain.length > longest.length ? chain : longest), []);
}

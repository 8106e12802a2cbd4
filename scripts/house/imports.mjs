/** The import graph of sources. Imports of types count; an index only passes on what others declare. */
import { posix } from 'node:path';

const IMPORT = /^[ \t]*(?:import|export)\s(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;
const COMMENT = /\/\*[^]*?\*\//g;
const INDEX = /^libs\/[^/]+\/src\/index\.ts$/;

/** Returns the sources that each source imports, by path. */
export function importGraph(sources) {
  const known = new Set(sources.map(({ path }) => path));
  return new Map(
    sources.map(({ path, text }) => {
      const names = [...text.replace(COMMENT, '').matchAll(IMPORT)].map(([, name]) => pathOf(name, path));
      return [path, new Set(names.filter((it) => known.has(it)))];
    }),
  );
}

/** Returns the longest chain of imports, from the importer down, without the indexes. The graph has no cycle. */
export function longestChain(graph) {
  const chains = new Map();
  const chainOf = (path) => {
    if (!chains.has(path)) {
      chains.set(path, []);
      const below = longestOf([...graph.get(path)].map(chainOf));
      chains.set(path, INDEX.test(path) ? below : [path, ...below]);
    }
    return chains.get(path);
  };
  return longestOf([...graph.keys()].map(chainOf));
}

/** Returns the sources that exactly one other source imports. */
export function singleImporterFiles(graph) {
  const importers = new Map([...graph.keys()].map((path) => [path, 0]));
  for (const imported of graph.values()) for (const path of imported) importers.set(path, importers.get(path) + 1);
  return [...importers].filter(([, count]) => count === 1).map(([path]) => path);
}

function pathOf(name, importer) {
  if (name.startsWith('#libs/')) return `libs/${name.slice('#libs/'.length)}/src/index.ts`;
  return name.startsWith('.') ? posix.join(posix.dirname(importer), name.replace(/\.js$/, '.ts')) : undefined;
}

function longestOf(chains) {
  return chains.reduce((longest, chain) => (chain.length > longest.length ? chain : longest), []);
}

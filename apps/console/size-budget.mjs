import { gzipSync } from 'node:zlib';

/** Compressed bytes that a browser may have to load before the canvas. */
const BUDGET_BYTES = 300 * 1024;
/** Files that a view may load beside those of the first load: a browser opens six connections at once. */
const MOST_FILES = 12;
/**
 * Modules that a view loads only when it draws a graph: the canvas with its layout, and the editor of prompts and
 * expressions.
 */
const CANVAS = /node_modules\/(@xyflow|@dagrejs|@codemirror)\//;

/**
 * Returns a Vite plugin that fails the build if the console exceeds its budget, or if a chunk of the first load
 * contains the canvas, or if a view consists of many files. The budget covers the entry with its static imports, the
 * styles, and the largest view without the canvas.
 */
export function sizeBudget() {
  return {
    name: 'parley-size-budget',
    apply: 'build',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      const entry = chunks.find((chunk) => chunk.isEntry);
      const first = withImports(entry, bundle);
      const canvas = [...first].find((chunk) => chunk.moduleIds.some((id) => CANVAS.test(id)));
      if (canvas) this.error(`${canvas.fileName} is loaded at once and contains the canvas`);
      const styles = Object.values(bundle).filter((file) => file.fileName.endsWith('.css'));
      const views = chunks.filter((chunk) => chunk.isDynamicEntry).map((chunk) => withImports(chunk, bundle));
      const files = Math.max(0, ...views.map((view) => [...view].filter((it) => !first.has(it)).length));
      if (files > MOST_FILES) this.error(`A view loads ${files} files; ${MOST_FILES} are allowed`);
      const largest = Math.max(
        0,
        ...views.map((view) => size([...view].filter((it) => !first.has(it) && !isCanvas(it)))),
      );
      const total = size([...first]) + size(styles) + largest;
      const kilobytes = (total / 1024).toFixed(1);
      if (total > BUDGET_BYTES) this.error(`The console is ${kilobytes} kB gzip before the canvas; 300 kB are allowed`);
      this.info(`${kilobytes} kB gzip before the canvas`);
    },
  };
}

function isCanvas(chunk) {
  return chunk.moduleIds.some((id) => CANVAS.test(id));
}

function withImports(chunk, bundle, found = new Set()) {
  if (!chunk || found.has(chunk)) return found;
  found.add(chunk);
  for (const name of chunk.imports) withImports(bundle[name], bundle, found);
  return found;
}

function size(files) {
  return files.reduce((sum, file) => sum + gzipSync(file.code ?? file.source).length, 0);
}

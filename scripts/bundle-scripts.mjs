/** Form of the files of the programs, which bundle-loader.mjs can load. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dirname, relative } from 'node:path/posix';
import { ROOT } from './prepare.mjs';

const LOADER = 'chunks/load.js';
/**
 * Parameters that the loader passes to a file. `Import` stands for `import`, which scripts do not have, and has as many
 * letters, so that columns stay the same.
 */
const GIVEN = ['exports', 'require', 'module', '__filename', '__dirname', 'Import'];
const IMPORT = /(?<![.\w$])import\(/g;
const OUTSIDE_ASCII = /(\\*)([\u0080-\uffff])/g;

/**
 * Plugin that turns each file into a script whose value is a function, and adds a module with the same exports for each
 * entry.
 */
export const loadedScripts = {
  name: 'loaded-scripts',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle).filter(({ type }) => type === 'chunk')) {
      chunk.code = scriptOf(chunk.code);
      if (chunk.isEntry) this.emitFile({ type: 'asset', fileName: `${chunk.name}.js`, source: moduleOf(chunk) });
    }
    const source = readFileSync(join(ROOT, 'scripts', 'bundle-loader.mjs'));
    this.emitFile({ type: 'asset', fileName: LOADER, source });
  },
};

/** Wraps code in a function. No line moves. */
function scriptOf(code) {
  const [, text, rest] = /^([^]*?)(\/\/# sourceMappingURL=.*\s*)?$/.exec(code);
  return `(function (${GIVEN.join(', ')}) {${inAscii(text).replaceAll(IMPORT, 'Import(')}\n});\n${rest ?? ''}`;
}

/** Escapes the characters outside of ASCII, so that V8 stores the text with one byte per character instead of two. */
function inAscii(code) {
  return code.replaceAll(OUTSIDE_ASCII, (_, slashes, character) => {
    const escaped = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    // An odd one escapes the character itself, which needs none.
    return slashes.length % 2 === 0 ? slashes + escaped : slashes.slice(1) + escaped;
  });
}

/**
 * Returns the module of an entry. If its program exports `begun`, the module is loaded only once that promise has
 * settled.
 */
function moduleOf({ name, fileName, exports }) {
  const folder = dirname(name);
  const [loader, script] = [LOADER, fileName].map((path) => `./${relative(folder, path)}`);
  const loaded = `load('${script}', import.meta.dirname)`;
  return [
    `import { load } from '${loader.replace('./..', '..')}';`,
    `export const { ${exports.join(', ')} } = ${loaded};`,
    ...(exports.includes('begun') ? ['await begun;'] : []),
    '',
  ].join('\n');
}

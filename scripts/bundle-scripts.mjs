/** How the files of the programs are written, so that bundle-loader.mjs can load them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dirname, relative } from 'node:path/posix';
import { ROOT } from './prepare.mjs';

const LOADER = 'chunks/load.js';
/** What the loader gives a file; `Import` is `import`, which scripts have not, in as many letters. */
const GIVEN = ['exports', 'require', 'module', '__filename', '__dirname', 'Import'];
const IMPORT = /(?<![.\w$])import\(/g;
const OUTSIDE_ASCII = /(\\*)([\u0080-\uffff])/g;

/** Makes each file a script whose value is a function, and puts a module of the same exports beside each entry. */
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

/** Every line stays where it is. */
function scriptOf(code) {
  const [, text, rest] = /^([^]*?)(\/\/# sourceMappingURL=.*\s*)?$/.exec(code);
  return `(function (${GIVEN.join(', ')}) {${inAscii(text).replaceAll(IMPORT, 'Import(')}\n});\n${rest ?? ''}`;
}

/** In memory a text takes a byte per character then, instead of two. */
function inAscii(code) {
  return code.replaceAll(OUTSIDE_ASCII, (_, slashes, character) => {
    const escaped = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    // An odd one escapes the character itself, which needs none.
    return slashes.length % 2 === 0 ? slashes + escaped : slashes.slice(1) + escaped;
  });
}

/** A program exports `begun`, and is loaded once that has come about. */
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

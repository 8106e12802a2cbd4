/**
 * Bundles the entry points with everything that they import, packages included, into a few files with source maps:
 * `node scripts/bundle.mjs FOLDER`. A process then starts in half the time that it takes to read three thousand
 * modules.
 */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { transform } from '@swc/core';
import { rolldown } from 'rolldown';
import { packageFiles, packageLicenses, packageParts } from './bundle-packages.mjs';
import { loadedScripts } from './bundle-scripts.mjs';
import { ROOT } from './prepare.mjs';

const PROGRAMS = [
  'src/main',
  'src/stop-abandoned-database',
  'apps/agent/src/main',
  'apps/agent/src/index',
  'apps/cli/src/main',
];
/**
 * Additional entry points: single libraries, which benchmarks (test/bench) measure, and the SDK for plugins of tests.
 */
const PARTS = [...readdirSync(join(ROOT, 'libs')).map((lib) => `libs/${lib}/src/index`), 'libs/agent-sdk/src/plugin'];

const NEST = /[\\/]node_modules[\\/]@nestjs[\\/]/;
const OWN_REQUIRE = 'const require = createRequire(import.meta.url);';
const OPTIONAL = new Set(['UNRESOLVED_IMPORT', 'EMPTY_IMPORT_META']);
const ANY_REQUIRE = /^\s*(?:const|let|var)\b.*\bcreateRequire\(/m;

/** Plugin that compiles the sources as .swcrc specifies, with the types that Nest's dependency injection reads. */
const sources = {
  name: 'sources',
  resolveId(id) {
    const lib = /^#libs\/([\w-]+)$/.exec(id)?.[1];
    return lib && join(ROOT, 'libs', lib, 'src/index.ts');
  },
  transform: {
    filter: { id: /\.ts$/ },
    async handler(code, filename) {
      const compiled = await transform(code, { filename, cwd: ROOT });
      return { code: compiled.code, map: compiled.map, moduleType: 'js' };
    },
  },
};

/**
 * Plugin that makes the bundler resolve `require` in Nest's packages; otherwise packages would be loaded a second time
 * from node_modules.
 */
const requires = {
  name: 'requires',
  transform: {
    filter: { id: NEST, code: OWN_REQUIRE },
    handler: (code) => ({ code: code.replace(OWN_REQUIRE, ''), map: null }),
  },
  generateBundle() {
    for (const id of this.getModuleIds()) {
      const code = NEST.test(id) ? this.getModuleInfo(id)?.code : undefined;
      if (ANY_REQUIRE.test(code)) this.error(`${id} has a require of its own, in another way than OWN_REQUIRE`);
    }
  },
};

await bundle(PROGRAMS, [packageFiles(), packageLicenses, loadedScripts], {
  // As scripts, whose code is kept from one start to the next: see bundle-loader.mjs.
  format: 'cjs',
  strict: true,
  entryFileNames: '[name]-[hash].cjs',
  chunkFileNames: ({ moduleIds }) => `chunks/${placeOf(moduleIds)}-[hash].cjs`,
});
await bundle(PARTS, [packageFiles('libs/')], {
  chunkFileNames: ({ moduleIds }) => `libs/chunks/${placeOf(moduleIds)}-[hash].js`,
});

async function bundle(entries, plugins, output) {
  const made = await rolldown({
    cwd: ROOT,
    platform: 'node',
    tsconfig: false,
    input: Object.fromEntries(entries.map((entry) => [entry, `${entry}.ts`])),
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    plugins: [sources, requires, packageParts, ...plugins],
    onLog: (level, log, report) => {
      // Nest and TypeORM look at what is installed of what they can work with.
      if (!OPTIONAL.has(log.code) || !log.id?.includes('node_modules')) report(level, log);
    },
  });
  await made.write({
    dir: resolve(process.argv[2]),
    sourcemap: true,
    keepNames: true,
    // V8 keeps the text of all loaded files. Short names of local variables make it a sixth smaller. Names of functions
    // and lines stay, so that a stack trace can be read without source maps.
    minify: { compress: false, mangle: { keepNames: true, toplevel: false }, codegen: { removeWhitespace: false } },
    // The licences of packages are in a file of their own.
    comments: false,
    ...output,
  });
  await made.close();
}

/**
 * Returns the library or package to which most of a file belongs. Lines of a log without source maps begin with this
 * name.
 */
function placeOf(moduleIds) {
  const counts = new Map();
  for (const id of moduleIds) {
    const place = /.*[\\/](?:node_modules|libs)[\\/]((?:@[\w-]+[\\/])?[\w.-]+)/.exec(id)?.[1] ?? '[name]';
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  const [[place] = ['[name]']] = [...counts].sort(([, one], [, other]) => other - one);
  return place.replace(/^@/, '').replace(/[\\/]/, '-');
}

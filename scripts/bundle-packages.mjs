/**
 * Plugins of the bundler for packages that are more than their code: those that read files, and the licenses of all
 * packages.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './prepare.mjs';

const MODULES = join(ROOT, 'node_modules');
const SWAGGER = join(MODULES, 'swagger-ui-dist');
const SWAGGER_FILE =
  /^(?:swagger-ui-(?:bundle|standalone-preset)\.js|swagger-ui\.css|favicon-.*\.png|oauth2-redirect\..*)$/;
const HEALTH_PROTO = 'proto/health/v1/health.proto';

/** Folder of the files of packages, beside the folder of chunks. */
const FOLDER = 'package-files';

/** Replacements for packages that are large and of which little is used, by the name of the module. */
const STAND_INS = {
  // The page of the API's documentation.
  'swagger-ui-dist/absolute-path.js': `module.exports = () => ${pathInBundle('swagger-ui')};`,
  // The job queue warns of a configuration file of its former versions; it gets its settings from here.
  cosmiconfig: 'export const cosmiconfigSync = () => ({ search: () => null });',
  // No route has a schema of Fastify: Nest's pipes and the parsers of A2A check input. No test injects requests here.
  '@fastify/ajv-compiler': `module.exports = () => () => { ${refusal('Schemas of Fastify')} };`,
  '@fastify/fast-json-stringify-compiler': `module.exports = () => () => { ${refusal('Schemas of Fastify')} };`,
  'light-my-request': `module.exports = () => { ${refusal('inject()')} };`,
  // Entities, migrations and static files are not searched by patterns.
  glob: `exports.glob = () => { ${refusal('glob')} };`,
  tinyglobby: `exports.globSync = () => { ${refusal('tinyglobby')} };`,
  // TypeORM's own log of statements stays off.
  '@sqltools/formatter': 'exports.format = (statement) => statement;',
  // What calls are made with: no browser's API, no proxies, nothing for tests.
  undici: `
    const Dispatcher = require('${inPackage('undici/lib/dispatcher/dispatcher.js')}');
    Object.assign(Dispatcher.prototype, require('${inPackage('undici/lib/api/index.js')}'));
    exports.Agent = require('${inPackage('undici/lib/dispatcher/agent.js')}');
    exports.buildConnector = require('${inPackage('undici/lib/core/connect.js')}');
    exports.cacheStores = { MemoryCacheStore: require('${inPackage('undici/lib/cache/memory-cache-store.js')}') };
    exports.interceptors = { cache: require('${inPackage('undici/lib/interceptor/cache.js')}') };`,
};
const STAND_IN = '\0stand-in:';

/** Other builds of packages, by the name of the module: ES modules, of which only the used parts get into the bundle. */
const ES_MODULES = {
  rxjs: inPackage('rxjs/dist/esm/index.js'),
  'rxjs/operators': inPackage('rxjs/dist/esm/operators/index.js'),
};

/**
 * Pattern of the lines that export class-validator's decorators of formats, such as telephone numbers and postal codes
 * of all countries, whose data would add a megabyte. A decorator that is needed is added to the exceptions.
 */
const FORMAT_DECORATOR =
  /^__exportStar\(require\("\.\/string\/(?!(?:Matches|Length|M(?:ax|in)Length|NotContains)")[\w-]+"\), exports\);$/gm;
/** Pattern of the lines that load TypeORM's drivers other than PostgreSQL's, which would add a megabyte. */
const OTHER_DRIVER = /^const \w+ = require\("\.\/(?!postgres\/)[\w-]+\/\w+Driver"\);$/gm;

/** Plugin that removes parts of packages that are never used, and that every process would read. */
export const packageParts = {
  name: 'package-parts',
  resolveId: {
    order: 'pre',
    handler: (id) => (Object.hasOwn(STAND_INS, id) ? { id: STAND_IN + id, moduleSideEffects: false } : ES_MODULES[id]),
  },
  load: {
    filter: { id: new RegExp(`^${STAND_IN}`) },
    handler: (id) => STAND_INS[id.slice(STAND_IN.length)],
  },
  transform: {
    filter: {
      id: /(?:typeorm[\\/]driver[\\/]DriverFactory|class-validator[\\/]cjs[\\/]decorator[\\/]decorators)\.js$/,
    },
    handler(code, id) {
      const kept = code.replaceAll(id.endsWith('DriverFactory.js') ? OTHER_DRIVER : FORMAT_DECORATOR, '');
      if (kept === code) this.error(`${id} names its parts in another way than expected`);
      return { code: kept, map: null };
    },
  },
};

/**
 * Creates the plugin that adds the files which packages read at run time, in a folder beside that of the chunks.
 * @param within common parent of both folders within the bundle, with a trailing slash; '' for the whole bundle
 */
export const packageFiles = (within = '') => ({
  name: 'package-files',
  transform: {
    filter: { id: /grpc-health-check[\\/]build[\\/]src[\\/]health\.js$/ },
    // As if it were in the folder of files, as deep as in its package.
    handler: (code) => ({ code: code.replaceAll('__dirname', pathInBundle('build/src')), map: null }),
  },
  generateBundle() {
    const emit = (fileName, path) =>
      this.emitFile({ type: 'asset', fileName: `${within}${FOLDER}/${fileName}`, source: readFileSync(path) });
    for (const file of readdirSync(SWAGGER).filter((it) => SWAGGER_FILE.test(it))) {
      emit(`swagger-ui/${file}`, join(SWAGGER, file));
    }
    emit(HEALTH_PROTO, join(MODULES, 'grpc-health-check', HEALTH_PROTO));
  },
});

/** Returns a statement that throws an error: a part of a package that is not in the bundle was used. */
function refusal(part) {
  return `throw new Error('${part}: not in the bundle (scripts/bundle-packages.mjs)');`;
}

function pathInBundle(name) {
  return `require('node:path').join(import.meta.dirname, '../${FOLDER}/${name}')`;
}

function inPackage(path) {
  return join(MODULES, path).replaceAll('\\', '/');
}

/** Plugin that writes the licenses of all bundled packages into a file, as these licenses require. */
export const packageLicenses = {
  name: 'package-licenses',
  generateBundle() {
    const folders = new Set([SWAGGER, ...[...this.getModuleIds()].flatMap((id) => packageFolder(id) ?? [])]);
    const entries = [...folders].map(licenseOf).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const bare = entries.filter(([, text]) => text === undefined).map(([name]) => name);
    if (bare.length > 0) this.error(`no licence is known of ${bare.join(', ')}`);
    const source = entries.map(([name, text]) => `${name}\n\n${text}\n`).join(`\n${'-'.repeat(80)}\n\n`);
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES', source });
  },
};

function packageFolder(id) {
  return /^\0?(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id.replace(/\?.*/, ''))?.[1];
}

/** Returns the name, the version and the license of a package, followed by the license texts in its folder. */
function licenseOf(folder) {
  const { name, version, license, licenses } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const said = license?.type ?? license ?? licenses?.map(({ type }) => type).join(' OR ');
  const files = readdirSync(folder).filter((it) => /^(?:licen[cs]e|notice|copying)/i.test(it));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${said})`, said === undefined && texts.length === 0 ? undefined : texts.join('\n\n')];
}

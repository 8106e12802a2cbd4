// Who may import whom: docs/ARCHITECTURE.md, "Boundaries". `npm run boundaries` refuses everything else.

/** What each lib may import, besides protocol and platform where it says so. */
const MAY_IMPORT = {
  protocol: [],
  platform: [],
  access: ['protocol', 'platform'],
  tasks: ['protocol', 'platform'],
  executor: ['protocol', 'platform', 'tasks'],
  'a2a-client': ['protocol', 'platform'],
  callees: ['protocol', 'platform', 'access', 'a2a-client'],
  credentials: ['protocol', 'platform', 'access', 'a2a-client'],
  nodes: ['protocol', 'platform', 'tasks', 'executor', 'a2a-client'],
  push: ['protocol', 'platform', 'access', 'tasks'],
  'a2a-server': ['protocol', 'platform', 'access', 'tasks', 'executor', 'push'],
  orchestrator: ['protocol', 'platform', 'access', 'tasks', 'executor', 'a2a-client'],
  conversations: ['protocol', 'platform', 'access', 'tasks', 'executor', 'a2a-client'],
  brainstorm: ['protocol', 'platform', 'access', 'tasks', 'executor', 'a2a-client'],
  'event-gateway': ['protocol', 'platform', 'access', 'tasks'],
};

const TEST = '\\.(spec|e2e-spec|browser-spec)\\.ts$';

const arrows = Object.entries(MAY_IMPORT).map(([lib, allowed]) => ({
  name: `${lib}-imports`,
  comment: `libs/${lib} may import: ${allowed.join(', ') || 'no other lib'}.`,
  severity: 'error',
  from: { path: `^libs/${lib}/` },
  to: { path: '^libs/', pathNot: `^libs/(${[lib, ...allowed].join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...arrows,
    {
      name: 'every-lib-has-a-rule',
      comment: 'A new lib needs a line in MAY_IMPORT.',
      severity: 'error',
      from: { path: '^libs/', pathNot: `^libs/(${Object.keys(MAY_IMPORT).join('|')})/` },
      to: {},
    },
    {
      name: 'only-through-the-index',
      comment: 'A lib is imported as #libs/<name>, never by a path into it.',
      severity: 'error',
      from: { path: '^(libs)/([^/]+)/' },
      to: { path: '^libs/', pathNot: ['^libs/$2/', '^libs/[^/]+/src/index\\.ts$'] },
    },
    {
      name: 'only-through-the-index-from-outside',
      comment: 'A lib is imported as #libs/<name>, never by a path into it.',
      severity: 'error',
      from: { path: '^(src|apps|test)/' },
      to: { path: '^libs/', pathNot: '^libs/[^/]+/src/index\\.ts$' },
    },
    {
      name: 'nobody-imports-the-service',
      comment: 'src and apps wire the libs; nothing depends on them.',
      severity: 'error',
      from: { path: '^(libs|apps)/' },
      to: { path: '^src/' },
    },
    {
      name: 'nobody-imports-an-app',
      severity: 'error',
      from: { path: '^(libs|src)/' },
      to: { path: '^apps/' },
    },
    {
      name: 'apps-are-alone',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'the-console-talks-to-the-api',
      comment: 'apps/console runs in a browser: it knows the service by its public API alone.',
      severity: 'error',
      from: { path: '^apps/console/' },
      to: { path: '^libs/' },
    },
    {
      name: 'production-code-imports-no-tests',
      severity: 'error',
      from: { path: '^(src|apps|libs)/', pathNot: TEST },
      to: { path: ['^test/', TEST] },
    },
    {
      name: 'protocol-does-no-io',
      comment: 'libs/protocol is words and pure functions: no Nest, no database, no network, no file.',
      severity: 'error',
      from: { path: '^libs/protocol/', pathNot: TEST },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
    {
      name: 'protocol-knows-no-framework',
      comment:
        'libs/protocol may use the SDK (codec), a schema compiler and a regular expression engine, nothing else.',
      severity: 'error',
      from: { path: '^libs/protocol/', pathNot: TEST },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        pathNot: '^node_modules/(@a2a-js/sdk|@bufbuild/protobuf|ajv|ajv-formats|re2js)/',
      },
    },
    {
      name: 'platform-knows-no-a2a',
      comment: 'libs/platform is what any process needs before it has an opinion.',
      severity: 'error',
      from: { path: '^libs/platform/' },
      to: { path: '^node_modules/@a2a-js/' },
    },
    {
      name: 'no-cycles',
      comment: 'Entities may refer to each other; nothing else may.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { pathNot: '\\.entity\\.ts$' } },
    },
    {
      name: 'no-dev-dependencies-in-production',
      severity: 'error',
      // The console's packages are bundled into its build: nothing needs them at run time.
      from: { path: '^(src|apps|libs)/', pathNot: [TEST, '/testing/', '^apps/console/'] },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm'], pathNot: '/@types/' },
    },
    {
      name: 'declared-dependencies-only',
      comment: 'What is imported is written in package.json. @jest/globals comes with jest.',
      severity: 'error',
      from: { path: '^(src|apps|libs|test)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], pathNot: '^node_modules/@jest/globals/' },
    },
    {
      name: 'everything-resolves',
      comment: 'The benchmark has packages of its own, which are there only where it was run.',
      severity: 'error',
      from: { pathNot: '^test/bench/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage|\\.data)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'node', 'types', 'default'],
      mainFields: ['module', 'main', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json', '.d.ts'],
    },
  },
};

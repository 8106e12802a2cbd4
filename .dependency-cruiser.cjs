// Who may import whom: docs/ARCHITECTURE.md, "Boundaries". `npm run boundaries` refuses everything else.

/** The layers from the bottom up, and what each lib may import: of its own layer or below. */
const LAYERS = {
  words: {
    protocol: [],
    expressions: ['protocol'],
    // What callers of the management API build on: it runs wherever there is a `fetch`, and imports nothing.
    client: [],
    // What authors of agents, node types and tools write with: it imports nothing, so that its types stand alone.
    'agent-sdk': [],
  },
  ground: {
    service: ['protocol', 'agent-sdk'],
    postgres: ['protocol', 'service'],
    jobs: ['service', 'postgres'],
    'http-client': ['protocol', 'service'],
    tracing: ['service', 'http-client'],
    'http-server': ['protocol', 'service', 'postgres', 'http-client'],
  },
  work: {
    tasks: ['protocol', 'service', 'postgres', 'jobs'],
    // What an agent is. Who executes it, and where, is not known here.
    agents: ['protocol', 'expressions', 'service', 'postgres', 'jobs', 'tracing', 'tasks'],
    executor: ['protocol', 'service', 'postgres', 'jobs', 'http-server', 'tracing', 'tasks', 'agents'],
    // An edge that work stands on: calls leave through it, and it knows nothing of who calls.
    'a2a-client': ['protocol', 'service', 'http-client', 'http-server', 'agents'],
    durable: ['protocol', 'service', 'postgres', 'http-server', 'tasks', 'agents', 'executor', 'a2a-client'],
  },
  'agents and edges': {
    access: ['protocol', 'service', 'postgres', 'http-client', 'http-server'],
    'remote-agents': ['protocol', 'service', 'postgres', 'jobs', 'http-client', 'http-server', 'access', 'a2a-client'],
    credentials: ['protocol', 'service', 'postgres', 'jobs', 'http-client', 'http-server', 'access', 'a2a-client'],
    'mcp-client': ['protocol', 'service', 'postgres', 'http-client', 'http-server', 'access', 'a2a-client'],
    files: ['protocol', 'service', 'postgres', 'jobs', 'http-client', 'http-server', 'access', 'agents', 'a2a-client'],
    models: [
      'protocol',
      'expressions',
      'service',
      'postgres',
      'http-client',
      'http-server',
      'access',
      'a2a-client',
      'files',
    ],
    nodes: [
      'protocol',
      'expressions',
      'agent-sdk',
      'service',
      'postgres',
      'http-client',
      'http-server',
      'tasks',
      'agents',
      'a2a-client',
      'durable',
      'mcp-client',
      'models',
    ],
    push: ['protocol', 'service', 'postgres', 'jobs', 'http-client', 'http-server', 'tracing', 'access', 'tasks'],
    'a2a-server': ['protocol', 'service', 'postgres', 'http-server', 'access', 'tasks', 'agents', 'executor', 'push'],
    // What a definition may say, and its problems: no store, no run. `parley check` stands on it.
    'workflow-definition': ['protocol', 'expressions', 'agents'],
    'workflow-engine': [
      'protocol',
      'expressions',
      'service',
      'postgres',
      'jobs',
      'http-server',
      'tasks',
      'agents',
      'a2a-client',
      'durable',
      'workflow-definition',
    ],
    workflows: [
      'protocol',
      'service',
      'postgres',
      'jobs',
      'http-server',
      'access',
      'tasks',
      'agents',
      'executor',
      'a2a-client',
      'durable',
      'workflow-definition',
      'workflow-engine',
    ],
    conversations: [
      'protocol',
      'service',
      'postgres',
      'jobs',
      'http-server',
      'access',
      'tasks',
      'agents',
      'executor',
      'a2a-client',
      'durable',
    ],
    brainstorm: [
      'protocol',
      'service',
      'postgres',
      'http-server',
      'access',
      'tasks',
      'agents',
      'executor',
      'a2a-client',
      'durable',
    ],
    // Writes definitions with a model: it stands on what a definition may name.
    generation: [
      'protocol',
      'service',
      'http-server',
      'access',
      'tasks',
      'agents',
      'models',
      'mcp-client',
      'remote-agents',
      'nodes',
      'workflow-definition',
      'workflows',
    ],
    'mcp-server': ['protocol', 'service', 'http-server', 'access', 'tasks', 'agents', 'executor', 'a2a-server'],
    'event-gateway': ['protocol', 'service', 'postgres', 'http-server', 'access', 'tasks'],
  },
};
const LIBS = Object.assign({}, ...Object.values(LAYERS));

const TEST = '\\.(spec|e2e-spec|browser-spec)\\.ts$';

const anyOf = (libs) => `^libs/(${libs.join('|')})/`;

const arrows = Object.entries(LIBS).map(([lib, allowed]) => ({
  name: `${lib}-imports`,
  comment: `libs/${lib} may import: ${allowed.join(', ') || 'no other lib'}.`,
  severity: 'error',
  from: { path: `^libs/${lib}/` },
  to: { path: '^libs/', pathNot: anyOf([lib, ...allowed]) },
}));

const heights = Object.entries(LAYERS)
  .slice(0, -1)
  .map(([layer, libs], height, lower) => ({
    name: `${layer}-looks-down`,
    comment: `The layers from the bottom up: ${Object.keys(LAYERS).join(', ')}.`,
    severity: 'error',
    from: { path: anyOf(Object.keys(libs)) },
    to: { path: '^libs/', pathNot: anyOf(lower.slice(0, height + 1).flatMap(([, below]) => Object.keys(below))) },
  }));

module.exports = {
  forbidden: [
    ...arrows,
    ...heights,
    {
      name: 'every-lib-has-a-place',
      comment: 'A new lib needs a line in LAYERS.',
      severity: 'error',
      from: { path: '^libs/', pathNot: anyOf(Object.keys(LIBS)) },
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
      name: 'nobody-imports-src',
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
      comment: 'apps/console runs in a browser: it knows the service by its public API alone, whose client it shares.',
      severity: 'error',
      from: { path: '^apps/console/' },
      to: { path: '^libs/', pathNot: '^libs/client/' },
    },
    {
      name: 'production-code-imports-no-tests',
      comment: 'Tests are what test/ has, specs, and what they share in a folder `testing`.',
      severity: 'error',
      from: { path: '^(src|apps|libs)/', pathNot: [TEST, '/testing/'] },
      to: { path: ['^test/', TEST, '/testing/'] },
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
      name: 'expressions-do-no-io',
      comment: 'libs/expressions is pure: what it needs to know comes with the variables.',
      severity: 'error',
      from: { path: '^libs/expressions/', pathNot: TEST },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'expressions-know-no-framework',
      comment:
        'libs/expressions may use the evaluator, the messages of its timestamps, a regular expression engine and Ajv.',
      severity: 'error',
      from: { path: '^libs/expressions/', pathNot: TEST },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer'],
        pathNot: '^node_modules/(@bufbuild/(cel|protobuf)|ajv|re2js)/',
      },
    },
    {
      name: 'definitions-know-no-injection',
      comment:
        'libs/workflow-definition runs without the service: one shape of its own says what a definition may have.',
      severity: 'error',
      from: { path: '^libs/workflow-definition/', pathNot: TEST },
      to: { path: '^node_modules/(@nestjs|class-validator|class-transformer)/' },
    },
    {
      name: 'the-ground-knows-no-a2a',
      comment: 'The ground is what any process needs before it has an opinion; of A2A it knows words at most.',
      severity: 'error',
      from: { path: anyOf(Object.keys(LAYERS.ground)) },
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
      comment:
        'What has packages of its own has them only where it was run: the benchmark, the frameworks, the S3 server.',
      severity: 'error',
      from: { pathNot: '^test/(bench|interop|s3)/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    skipAnalysisNotInRules: true,
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

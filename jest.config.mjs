import { availableParallelism } from 'node:os';

const shared = {
  runtime: '<rootDir>/test/runtime.mjs',
  testEnvironment: '<rootDir>/test/environment.mjs',
  transform: {},
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.data'],
};

export default {
  // More than there are processors: many tests wait for something most of their time. Each has services beside it.
  maxWorkers: Math.min(availableParallelism() + 4, 6),
  testSequencer: '<rootDir>/test/sequencer.mjs',
  // A safety net, which no test's outcome depends on; one wait (test/support/until.ts) is given up before it.
  testTimeout: 600_000,
  workerIdleMemoryLimit: '1GB',
  coverageProvider: 'v8',
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/{libs,src,apps}/**/*.spec.ts'] },
    {
      ...shared,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/**/*.e2e-spec.ts'],
      globalSetup: '<rootDir>/test/e2e-global-setup.mjs',
    },
    {
      ...shared,
      displayName: 'browser',
      testMatch: ['<rootDir>/test/browser/**/*.browser-spec.ts'],
      globalSetup: '<rootDir>/test/e2e-global-setup.mjs',
    },
    {
      ...shared,
      displayName: 'cluster',
      testMatch: ['<rootDir>/test/cluster/**/*.cluster-spec.ts'],
      globalSetup: '<rootDir>/test/e2e-global-setup.mjs',
    },
  ],
};

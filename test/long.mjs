/**
 * Test files that repeat a property under load, at a larger size, on more peers or at every moment of a kill, and are
 * proved once, in small, by `npm test`: paths or folders from the root. `npm run test:long` runs them, and nothing else; `.ci/run` runs both.
 */
export const LONG = [
  // Several replicas that are killed, frozen or cut off, again and again. npm test has test/e2e/replicas and durability.
  'test/cluster/',
  // One caller against all others: each bound at its full size.
  'test/e2e/attacks/',
  'test/fuzz/',
  // Floods, slow peers and large contents.
  'test/e2e/push-storm.e2e-spec.ts',
  'test/e2e/push-slow-receiver.e2e-spec.ts',
  'test/e2e/push-shares.e2e-spec.ts',
  'test/e2e/slow-readers.e2e-spec.ts',
  'test/e2e/large-reads.e2e-spec.ts',
  'test/e2e/commit-stall.e2e-spec.ts',
  'test/e2e/claims.e2e-spec.ts',
  'test/e2e/auth-strangers.e2e-spec.ts',
  'test/e2e/cancel-retries.e2e-spec.ts',
  // Other programs, installed, built or started as a user would: tools, poolers, packages, templates.
  'test/e2e/nest-cli.e2e-spec.ts',
  'test/e2e/package.e2e-spec.ts',
  'test/e2e/pooler.e2e-spec.ts',
  'test/e2e/outbound-matrix.e2e-spec.ts',
  'test/e2e/house/runnable-pages.e2e-spec.ts',
  'test/contracts/file-storages.e2e-spec.ts',
];

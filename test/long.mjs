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
  'test/e2e/conversation-readers.e2e-spec.ts',
  'test/e2e/slow-readers.e2e-spec.ts',
  'test/e2e/large-reads.e2e-spec.ts',
  'test/e2e/commit-stall.e2e-spec.ts',
  'test/e2e/claims.e2e-spec.ts',
  'test/e2e/auth-strangers.e2e-spec.ts',
  'test/e2e/cancel-retries.e2e-spec.ts',
  'test/e2e/http-limits.e2e-spec.ts',
  'test/e2e/large-parts.e2e-spec.ts',
  'test/e2e/door-large-files.e2e-spec.ts',
  'test/e2e/list-shares.e2e-spec.ts',
  // Each view of the console in every state and size. npm test has the journeys: start, templates, tour, a workflow, a
  // run, its loading and failure, inbox, sign-in. It has reconnection without a browser (durability, apps/console).
  ...['agent-journey', 'agents', 'api-key', 'brainstorms', 'canvas-tools', 'code-fields', 'console-panel'].map(browser),
  ...['conversations', 'cross-site', 'editor-canvas', 'files', 'help', 'language-editor', 'language-runs'].map(browser),
  ...['list-views', 'mcp-servers', 'model-test', 'node-trial', 'oidc-sign-in', 'overview', 'phone'].map(browser),
  ...['prompts', 'reconnect', 'registered-agents', 'results', 'revisions', 'run-inputs', 'run-list'].map(browser),
  ...['run-view', 'shell', 'tasks', 'timeline', 'traces', 'workflow-editor', 'workflow-saving'].map(browser),
  browser('evaluator-journey'),
  // The same for further kinds of work; npm test has workflows of tenants, and their limits.
  'test/e2e/tenant-conversations.e2e-spec.ts',
  'test/e2e/tenant-brainstorms.e2e-spec.ts',
  'test/e2e/child-run-tenants.e2e-spec.ts',
  // Replicas that are killed with a conversation, a notification or a registered agent's turn under way.
  'test/e2e/rows-a-durable.e2e-spec.ts',
  'test/e2e/push-kills.e2e-spec.ts',
  'test/e2e/door-waiting-turns.e2e-spec.ts',
  'test/e2e/door-stalls.e2e-spec.ts',
  // npm test parks Tasks of this service (parked-tasks), and stores the turns of a registered agent (door-durability).
  'test/e2e/door-parking.e2e-spec.ts',
  'test/e2e/door-parking-faults.e2e-spec.ts',
  'test/e2e/external-registered-kills.e2e-spec.ts',
  // Databases that are started, filled, broken and ended for each case.
  'test/e2e/backup.e2e-spec.ts',
  'test/e2e/backup-embedded.e2e-spec.ts',
  'test/e2e/upgraded.e2e-spec.ts',
  'test/e2e/secrets-at-rest.e2e-spec.ts',
  'test/e2e/rows-j-durability.e2e-spec.ts',
  'test/e2e/database-away.e2e-spec.ts',
  'test/e2e/platform/platform-service.e2e-spec.ts',
  'test/e2e/platform/replica-life.e2e-spec.ts',
  'test/e2e/platform/signals.e2e-spec.ts',
  'test/e2e/chaos-faults.e2e-spec.ts',
  'test/e2e/database-cut-off.e2e-spec.ts',
  'test/e2e/failed-start.e2e-spec.ts',
  // npm test refuses bad settings in unit tests and in operations.
  'test/e2e/start-and-refusals.e2e-spec.ts',
  'test/e2e/read-only-database.e2e-spec.ts',
  'test/e2e/platform/database.e2e-spec.ts',
  'test/e2e/platform/embedded-postgres.e2e-spec.ts',
  // Other programs, installed, built or started as a user would: tools, poolers, packages, templates.
  'test/e2e/grpc-runs.e2e-spec.ts',
  // npm test sends every operation over gRPC as well (bindings), and as a stranger (grpc-access).
  'test/e2e/grpc.e2e-spec.ts',
  'test/e2e/nest-cli.e2e-spec.ts',
  'test/e2e/cells.e2e-spec.ts',
  'test/e2e/trace-hops.e2e-spec.ts',
  'test/e2e/gateway-silent-clients.e2e-spec.ts',
  'test/e2e/house/coverage.e2e-spec.ts',
  'test/e2e/house/dashboards.e2e-spec.ts',
  'test/e2e/house/kubernetes.e2e-spec.ts',
  'test/e2e/package.e2e-spec.ts',
  'test/e2e/pooler.e2e-spec.ts',
  'test/e2e/outbound-matrix.e2e-spec.ts',
  'test/e2e/typed-client.e2e-spec.ts',
  'test/e2e/agent-app/defined-agent.e2e-spec.ts',
  'test/e2e/agent-app/demo.e2e-spec.ts',
  'test/e2e/agent-app/documented-agents.e2e-spec.ts',
  'test/e2e/agent-app/order-agent.e2e-spec.ts',
  'test/e2e/agent-app/role-agent.e2e-spec.ts',
  // npm test runs commands in this process, and one of them as a program (run-list-command).
  'test/e2e/parley-command.e2e-spec.ts',
  'test/e2e/objects-as-files.e2e-spec.ts',
  'test/e2e/object-commands.e2e-spec.ts',
  'test/e2e/revisions-command.e2e-spec.ts',
  'test/e2e/killed-commands.e2e-spec.ts',
  'test/e2e/platform/compiled-programs.e2e-spec.ts',
  'test/e2e/platform/jobs.e2e-spec.ts',
  'test/e2e/secret-logs.e2e-spec.ts',
  'test/e2e/house/runnable-pages.e2e-spec.ts',
  'test/contracts/file-storages.e2e-spec.ts',
];

function browser(name) {
  return `test/browser/${name}.browser-spec.ts`;
}

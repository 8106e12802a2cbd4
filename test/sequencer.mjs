import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Seconds that a file took, where this machine has not run it yet: those that would otherwise begin too late. */
const SECONDS = {
  'test/e2e/nest-cli.e2e-spec.ts': 80,
  'test/cluster/parked-runs.cluster-spec.ts': 75,
  'test/cluster/oauth-tokens.cluster-spec.ts': 70,
  'test/e2e/push-slow-receiver.e2e-spec.ts': 64,
  'test/e2e/push-storm.e2e-spec.ts': 60,
  'test/e2e/attacks/large-definitions.e2e-spec.ts': 60,
  'test/e2e/attacks/memory.e2e-spec.ts': 60,
  'test/e2e/attacks/content.e2e-spec.ts': 60,
  'test/cluster/child-runs.cluster-spec.ts': 55,
  'test/cluster/agent-events.cluster-spec.ts': 55,
  'test/cluster/language-kills.cluster-spec.ts': 52,
  'test/e2e/large-reads.e2e-spec.ts': 50,
  'test/e2e/parley-command.e2e-spec.ts': 50,
  'test/e2e/claims.e2e-spec.ts': 48,
  'test/browser/tasks.browser-spec.ts': 45,
  'test/cluster/agent-kills.cluster-spec.ts': 45,
  'test/e2e/attacks/unread-answers.e2e-spec.ts': 45,
  'test/e2e/operations.e2e-spec.ts': 20,
  'test/browser/language-editor.browser-spec.ts': 44,
  'test/browser/workflow-editor.browser-spec.ts': 43,
  'test/fuzz/fuzz.e2e-spec.ts': 43,
  'test/e2e/package.e2e-spec.ts': 43,
  'test/e2e/auth-strangers.e2e-spec.ts': 41,
  'test/e2e/slow-readers.e2e-spec.ts': 40,
  'test/e2e/agent-app/agent.e2e-spec.ts': 40,
  'test/e2e/push-shares.e2e-spec.ts': 40,
  'test/e2e/commit-stall.e2e-spec.ts': 40,
  'test/browser/agent-journey.browser-spec.ts': 38,
  'test/e2e/rows-a-durable.e2e-spec.ts': 38,
  'test/browser/cross-site.browser-spec.ts': 37,
  'test/browser/language-runs.browser-spec.ts': 36,
  'test/e2e/attacks/run-trees.e2e-spec.ts': 35,
  'test/e2e/grpc.e2e-spec.ts': 32,
  'test/cluster/rolling-restart.cluster-spec.ts': 31,
  'test/e2e/attacks/paths.e2e-spec.ts': 30,
  'test/e2e/attacks/crossing.e2e-spec.ts': 30,
  'test/e2e/attacks/costly-expressions.e2e-spec.ts': 30,
  'test/e2e/attacks/foreign-answers.e2e-spec.ts': 30,
  'test/e2e/push-delivery.e2e-spec.ts': 29,
  'test/e2e/platform/embedded-postgres.e2e-spec.ts': 28,
  'test/cluster/kills.cluster-spec.ts': 28,
  'test/cluster/run-clients.cluster-spec.ts': 28,
  'test/e2e/agent-app/role-agent.e2e-spec.ts': 27,
  'test/e2e/platform/database.e2e-spec.ts': 25,
  'test/e2e/attacks/floods.e2e-spec.ts': 25,
  'test/e2e/platform/platform-service.e2e-spec.ts': 25,
  'test/e2e/durability.e2e-spec.ts': 20,
  'test/e2e/backup.e2e-spec.ts': 25,
  'test/e2e/agent-app/chat.e2e-spec.ts': 15,
  'test/e2e/agent-app/defined-agent.e2e-spec.ts': 25,
  'test/browser/reconnect.browser-spec.ts': 25,
  'test/browser/code-fields.browser-spec.ts': 24,
  'test/e2e/secret-logs.e2e-spec.ts': 24,
  'test/e2e/rows-j-durability.e2e-spec.ts': 22,
  'test/e2e/read-only-database.e2e-spec.ts': 22,
  'test/e2e/house/runnable-pages.e2e-spec.ts': 22,
  'test/cluster/frozen-owner.cluster-spec.ts': 22,
  'test/cluster/postgres-restart.cluster-spec.ts': 21,
  'test/e2e/secrets-at-rest.e2e-spec.ts': 21,
  'test/browser/run-view.browser-spec.ts': 21,
  'test/e2e/pooler.e2e-spec.ts': 20,
  'test/e2e/cancel-retries.e2e-spec.ts': 20,
  'test/cluster/kubernetes-restart.cluster-spec.ts': 20,
  'test/e2e/failed-start.e2e-spec.ts': 20,
  'test/e2e/start-and-refusals.e2e-spec.ts': 20,
  'test/e2e/auth-required.e2e-spec.ts': 15,
  'test/e2e/database-cut-off.e2e-spec.ts': 15,
  'libs/tasks/src/journal/batch-recovery.spec.ts': 13,
  'libs/mcp-client/src/connection/mcp-connections.spec.ts': 20,
  'test/e2e/outbound-matrix.e2e-spec.ts': 19,
  'test/browser/conversations.browser-spec.ts': 19,
  'libs/a2a-client/src/transport-agent-client.spec.ts': 8,
  'libs/tasks/src/journal/task-journal.spec.ts': 11,
};
/** Of any other file of a project. */
const USUAL_SECONDS = { unit: 0.5, e2e: 6, browser: 15, cluster: 12 };

/** Longest first, with those that take turns (support/turns.ts) so far apart that few of them wait for another. */
export default class LongestFirst extends Sequencer {
  constructor(options) {
    super(options);
    this.workers = options?.globalConfig?.maxWorkers ?? 1;
  }

  sort(tests) {
    const files = tests.map((test) => ({ test, seconds: this.secondsOf(test), turns: takesTurns(test) }));
    files.sort((one, other) => other.seconds - one.seconds);
    const [heavy, light] = [files.filter(({ turns }) => turns), files.filter(({ turns }) => !turns)];
    const order = [];
    for (const file of heavy) {
      order.push(file);
      // What the other workers do meanwhile.
      let meanwhile = file.seconds * (this.workers - 1);
      for (; meanwhile > 0 && light.length > 0; meanwhile -= order.at(-1).seconds) order.push(light.shift());
    }
    return [...order, ...light].map(({ test }) => test);
  }

  secondsOf(test) {
    const { rootDir, displayName } = test.context.config;
    const recorded = this.time(test);
    if (recorded !== undefined) return recorded / 1000;
    return SECONDS[relative(rootDir, test.path)] ?? USUAL_SECONDS[displayName?.name] ?? 1;
  }
}

function takesTurns({ path }) {
  return readFileSync(path, 'utf8').includes('\ntakeTurns();');
}

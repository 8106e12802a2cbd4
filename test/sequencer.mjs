import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Seconds that a file took, where this machine has not run it yet: those that would otherwise begin too late. */
const SECONDS = {
  'test/browser/evaluator-journey.browser-spec.ts': 177,
  'test/e2e/auth-strangers.e2e-spec.ts': 120,
  'test/e2e/package.e2e-spec.ts': 120,
  'test/e2e/door-large-files.e2e-spec.ts': 115,
  'test/e2e/large-reads.e2e-spec.ts': 115,
  'test/e2e/parley-command.e2e-spec.ts': 114,
  'test/cluster/registered-agents.cluster-spec.ts': 106,
  'test/e2e/attacks/memory.e2e-spec.ts': 106,
  'test/e2e/commit-stall.e2e-spec.ts': 96,
  'test/e2e/nest-cli.e2e-spec.ts': 95,
  'test/contracts/file-storages.e2e-spec.ts': 90,
  'test/cluster/parked-runs.cluster-spec.ts': 82,
  'test/e2e/attacks/foreign-answers.e2e-spec.ts': 79,
  'test/e2e/attacks/content.e2e-spec.ts': 76,
  'test/e2e/durability.e2e-spec.ts': 75,
  'test/e2e/attacks/unread-answers.e2e-spec.ts': 72,
  'test/cluster/oauth-tokens.cluster-spec.ts': 71,
  'test/cluster/parked-agents.cluster-spec.ts': 62,
  'test/e2e/attacks/large-definitions.e2e-spec.ts': 62,
  'test/e2e/door-waiting-turns.e2e-spec.ts': 62,
  'test/cluster/schedules.cluster-spec.ts': 61,
  'test/e2e/door-parking.e2e-spec.ts': 60,
  'test/fuzz/fuzz.e2e-spec.ts': 56,
  'test/cluster/agent-events.cluster-spec.ts': 53,
  'test/e2e/claims.e2e-spec.ts': 53,
  'test/e2e/attacks/unread-views.e2e-spec.ts': 51,
  'test/e2e/push-slow-receiver.e2e-spec.ts': 48,
  'test/browser/language-editor.browser-spec.ts': 46,
  'test/browser/workflow-editor.browser-spec.ts': 46,
  'test/e2e/backup.e2e-spec.ts': 46,
  'test/e2e/slow-readers.e2e-spec.ts': 46,
  'test/cluster/run-slots.cluster-spec.ts': 45,
  'test/e2e/agent-app/role-agent.e2e-spec.ts': 45,
  'test/browser/run-view.browser-spec.ts': 44,
  'test/e2e/child-runs.e2e-spec.ts': 43,
  'test/e2e/operations.e2e-spec.ts': 43,
  'test/e2e/platform/embedded-postgres.e2e-spec.ts': 43,
  'test/e2e/secret-logs.e2e-spec.ts': 43,
  'test/e2e/outbound-matrix.e2e-spec.ts': 42,
  'test/browser/overview.browser-spec.ts': 40,
  'test/e2e/attacks/run-trees.e2e-spec.ts': 40,
  'test/e2e/grpc.e2e-spec.ts': 39,
  'test/e2e/attacks/crossing.e2e-spec.ts': 38,
  'test/e2e/attacks/floods.e2e-spec.ts': 38,
  'libs/mcp-client/src/connection/mcp-connections.spec.ts': 37,
  'test/browser/language-runs.browser-spec.ts': 37,
  'test/e2e/objects-as-files.e2e-spec.ts': 37,
  'test/cluster/frozen-owner.cluster-spec.ts': 36,
  'test/e2e/agent-app/agent.e2e-spec.ts': 36,
  'test/e2e/secrets-at-rest.e2e-spec.ts': 36,
  'test/browser/agents.browser-spec.ts': 35,
  'test/browser/code-fields.browser-spec.ts': 35,
  'test/e2e/door-stalls.e2e-spec.ts': 35,
  'test/e2e/rows-a-durable.e2e-spec.ts': 35,
  'test/browser/cross-site.browser-spec.ts': 34,
  'test/browser/revisions.browser-spec.ts': 34,
  'test/browser/tasks.browser-spec.ts': 34,
  'test/e2e/house/runnable-pages.e2e-spec.ts': 34,
  'test/e2e/object-commands.e2e-spec.ts': 33,
  'test/browser/help.browser-spec.ts': 32,
  'test/cluster/cut-off-owner.cluster-spec.ts': 32,
  'test/cluster/language-kills.cluster-spec.ts': 32,
  'test/e2e/failed-start.e2e-spec.ts': 32,
  'test/e2e/pooler.e2e-spec.ts': 32,
  'test/browser/shell.browser-spec.ts': 31,
  'test/browser/list-views.browser-spec.ts': 30,
  'test/browser/templates.browser-spec.ts': 30,
  'test/cluster/kubernetes-restart.cluster-spec.ts': 30,
  'test/e2e/conversation-readers.e2e-spec.ts': 30,
  'test/e2e/rows-j-durability.e2e-spec.ts': 30,
  'test/browser/canvas-tools.browser-spec.ts': 29,
  'test/browser/conversations.browser-spec.ts': 29,
  'test/browser/run-inputs.browser-spec.ts': 29,
  'test/cluster/child-runs.cluster-spec.ts': 29,
  'test/cluster/kills.cluster-spec.ts': 29,
  'test/e2e/console-oidc.e2e-spec.ts': 29,
  'test/e2e/retention.e2e-spec.ts': 29,
  'test/e2e/start-and-refusals.e2e-spec.ts': 29,
  'test/browser/phone.browser-spec.ts': 28,
  'test/browser/workflow-saving.browser-spec.ts': 28,
  'test/cluster/postgres-restart.cluster-spec.ts': 28,
  'test/browser/run-list.browser-spec.ts': 27,
  'test/cluster/rolling-restart.cluster-spec.ts': 27,
  'test/browser/api-key.browser-spec.ts': 26,
  'test/e2e/attacks/paths.e2e-spec.ts': 26,
  'test/e2e/door-parking-faults.e2e-spec.ts': 26,
  'test/e2e/push-kills.e2e-spec.ts': 26,
  'test/e2e/schedules.e2e-spec.ts': 26,
  'test/browser/agent-journey.browser-spec.ts': 25,
  'test/browser/sign-in.browser-spec.ts': 25,
  'test/e2e/attacks/hosts.e2e-spec.ts': 25,
  'test/e2e/push-delivery.e2e-spec.ts': 25,
  'test/browser/oidc-sign-in.browser-spec.ts': 24,
  'test/e2e/console-sessions.e2e-spec.ts': 24,
  'test/e2e/event-gateway.e2e-spec.ts': 24,
  'test/e2e/platform/jobs.e2e-spec.ts': 24,
  'test/cluster/late-call.cluster-spec.ts': 23,
  'test/e2e/agent-app/defined-agent.e2e-spec.ts': 23,
  'test/e2e/agent-app/documented-agents.e2e-spec.ts': 23,
  'test/e2e/database-away.e2e-spec.ts': 23,
  'test/e2e/database-cut-off.e2e-spec.ts': 23,
  'test/e2e/killed-commands.e2e-spec.ts': 23,
  'test/e2e/push-storm.e2e-spec.ts': 23,
  'test/browser/console-panel.browser-spec.ts': 22,
  'test/cluster/run-clients.cluster-spec.ts': 22,
  'test/e2e/auth-keys.e2e-spec.ts': 22,
  'test/e2e/cancel-retries.e2e-spec.ts': 22,
  'test/e2e/credentials-calls.e2e-spec.ts': 22,
  'libs/a2a-server/src/grpc/grpc-listener.spec.ts': 21,
  'test/browser/results.browser-spec.ts': 20,
  'test/browser/run-loading.browser-spec.ts': 20,
  'test/cluster/cancel-races.cluster-spec.ts': 20,
  'test/e2e/platform/replica-life.e2e-spec.ts': 20,
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

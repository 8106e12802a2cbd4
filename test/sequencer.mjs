import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Seconds that a file took, where this machine has not run it yet: those that would otherwise begin too late. */
const SECONDS = {
  'test/contracts/file-storages.e2e-spec.ts': 191,
  'test/e2e/package.e2e-spec.ts': 167,
  'test/e2e/parley-command.e2e-spec.ts': 160,
  'test/e2e/auth-strangers.e2e-spec.ts': 138,
  'test/e2e/attacks/large-definitions.e2e-spec.ts': 123,
  'test/e2e/nest-cli.e2e-spec.ts': 123,
  'test/e2e/door-large-files.e2e-spec.ts': 117,
  'test/e2e/durability.e2e-spec.ts': 111,
  'test/e2e/large-reads.e2e-spec.ts': 107,
  'test/e2e/attacks/memory.e2e-spec.ts': 104,
  'test/cluster/parked-runs.cluster-spec.ts': 97,
  'test/cluster/agent-events.cluster-spec.ts': 95,
  'test/e2e/commit-stall.e2e-spec.ts': 94,
  'test/e2e/outbound-matrix.e2e-spec.ts': 94,
  'test/e2e/attacks/foreign-answers.e2e-spec.ts': 91,
  'test/e2e/push-storm.e2e-spec.ts': 89,
  'libs/mcp-client/src/connection/mcp-connections.spec.ts': 86,
  'test/fuzz/fuzz.e2e-spec.ts': 86,
  'test/cluster/oauth-tokens.cluster-spec.ts': 77,
  'test/browser/workflow-editor.browser-spec.ts': 74,
  'test/e2e/attacks/content.e2e-spec.ts': 74,
  'test/e2e/agent-app/agent.e2e-spec.ts': 72,
  'test/e2e/grpc.e2e-spec.ts': 71,
  'test/browser/language-runs.browser-spec.ts': 66,
  'test/e2e/house/runnable-pages.e2e-spec.ts': 65,
  'test/e2e/platform/embedded-postgres.e2e-spec.ts': 65,
  'test/e2e/failed-start.e2e-spec.ts': 63,
  'test/e2e/objects-as-files.e2e-spec.ts': 62,
  'test/e2e/attacks/crossing.e2e-spec.ts': 59,
  'test/browser/language-editor.browser-spec.ts': 58,
  'test/browser/run-view.browser-spec.ts': 58,
  'test/browser/cross-site.browser-spec.ts': 57,
  'test/e2e/attacks/unread-answers.e2e-spec.ts': 57,
  'test/e2e/claims.e2e-spec.ts': 57,
  'test/e2e/push-slow-receiver.e2e-spec.ts': 57,
  'test/cluster/child-runs.cluster-spec.ts': 56,
  'test/e2e/attacks/floods.e2e-spec.ts': 55,
  'test/e2e/door-parking.e2e-spec.ts': 55,
  'test/e2e/start-and-refusals.e2e-spec.ts': 54,
  'test/browser/canvas-tools.browser-spec.ts': 51,
  'test/cluster/language-kills.cluster-spec.ts': 50,
  'test/e2e/pooler.e2e-spec.ts': 50,
  'test/e2e/push-delivery.e2e-spec.ts': 49,
  'test/browser/help.browser-spec.ts': 47,
  'test/e2e/slow-readers.e2e-spec.ts': 47,
  'test/browser/reconnect.browser-spec.ts': 46,
  'test/e2e/operations.e2e-spec.ts': 46,
  'test/cluster/rolling-restart.cluster-spec.ts': 45,
  'test/cluster/frozen-owner.cluster-spec.ts': 44,
  'test/e2e/attacks/paths.e2e-spec.ts': 44,
  'test/e2e/backup.e2e-spec.ts': 44,
  'test/e2e/secret-logs.e2e-spec.ts': 44,
  'test/e2e/secrets-at-rest.e2e-spec.ts': 44,
  'test/e2e/object-commands.e2e-spec.ts': 43,
  'test/e2e/rows-j-durability.e2e-spec.ts': 43,
  'test/e2e/rows-a-durable.e2e-spec.ts': 41,
  'test/cluster/postgres-restart.cluster-spec.ts': 38,
  'test/browser/code-fields.browser-spec.ts': 37,
  'test/browser/api-key.browser-spec.ts': 35,
  'test/browser/templates.browser-spec.ts': 35,
  'test/browser/brainstorms.browser-spec.ts': 34,
  'test/browser/run-journey.browser-spec.ts': 34,
  'test/browser/sign-in.browser-spec.ts': 34,
  'test/browser/tasks.browser-spec.ts': 34,
  'test/e2e/agent-app/role-agent.e2e-spec.ts': 34,
  'test/browser/agents.browser-spec.ts': 33,
  'test/browser/conversations.browser-spec.ts': 32,
  'test/browser/run-loading.browser-spec.ts': 32,
  'test/browser/agent-journey.browser-spec.ts': 30,
  'test/browser/overview.browser-spec.ts': 30,
  'test/cluster/kills.cluster-spec.ts': 30,
  'test/e2e/agent-app/defined-agent.e2e-spec.ts': 30,
  'test/e2e/cancel-retries.e2e-spec.ts': 30,
  'test/cluster/kubernetes-restart.cluster-spec.ts': 29,
  'test/e2e/attacks/run-trees.e2e-spec.ts': 29,
  'test/e2e/database-cut-off.e2e-spec.ts': 29,
  'test/browser/shell.browser-spec.ts': 28,
  'test/e2e/child-runs.e2e-spec.ts': 28,
  'test/browser/console-panel.browser-spec.ts': 27,
  'test/browser/editor-canvas.browser-spec.ts': 27,
  'test/browser/workflow-saving.browser-spec.ts': 26,
  'test/cluster/run-clients.cluster-spec.ts': 26,
  'test/e2e/platform/platform-service.e2e-spec.ts': 25,
  'test/e2e/tenant-workflows.e2e-spec.ts': 25,
  'test/cluster/agent-kills.cluster-spec.ts': 23,
  'test/e2e/door-durability.e2e-spec.ts': 23,
  'test/browser/inbox.browser-spec.ts': 22,
  'test/browser/list-views.browser-spec.ts': 22,
  'test/browser/run-list.browser-spec.ts': 22,
  'test/e2e/retention.e2e-spec.ts': 22,
  'test/browser/model-test.browser-spec.ts': 21,
  'test/e2e/console-oidc.e2e-spec.ts': 21,
  'test/e2e/event-gateway.e2e-spec.ts': 21,
  'test/e2e/auth-keys.e2e-spec.ts': 20,
  'test/e2e/parking.e2e-spec.ts': 20,
  'test/e2e/read-only-database.e2e-spec.ts': 20,
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

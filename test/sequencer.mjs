import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** Seconds that a file took, where this machine has not run it yet: those that would otherwise begin too late. */
const SECONDS = {
  'test/cluster/oauth-tokens.cluster-spec.ts': 65,
  'test/e2e/push-slow-receiver.e2e-spec.ts': 55,
  'test/cluster/parked-runs.cluster-spec.ts': 48,
  'test/browser/language-editor.browser-spec.ts': 45,
  'test/e2e/large-reads.e2e-spec.ts': 40,
  'test/e2e/attacks/memory.e2e-spec.ts': 40,
  'test/e2e/slow-readers.e2e-spec.ts': 38,
  'test/e2e/auth-strangers.e2e-spec.ts': 38,
  'test/browser/cross-site.browser-spec.ts': 36,
  'test/e2e/operations.e2e-spec.ts': 36,
  'test/e2e/claims.e2e-spec.ts': 35,
  'test/e2e/platform/embedded-postgres.e2e-spec.ts': 35,
  'test/cluster/kills.cluster-spec.ts': 30,
  'test/browser/workflow-editor.browser-spec.ts': 30,
  'test/browser/language-runs.browser-spec.ts': 30,
  'test/fuzz/fuzz.e2e-spec.ts': 30,
  'test/e2e/push-delivery.e2e-spec.ts': 26,
  'test/e2e/rows-a-durable.e2e-spec.ts': 25,
  'test/e2e/gateway-conversations.e2e-spec.ts': 25,
  'test/e2e/rows-a-transcript.e2e-spec.ts': 25,
  'test/browser/run-view.browser-spec.ts': 25,
  'test/e2e/secret-logs.e2e-spec.ts': 22,
  'test/e2e/attacks/content.e2e-spec.ts': 22,
  'test/e2e/agent-app/agent.e2e-spec.ts': 20,
  'test/e2e/agent-app/role-agent.e2e-spec.ts': 20,
  'test/e2e/attacks/foreign-answers.e2e-spec.ts': 12,
  'test/e2e/attacks/floods.e2e-spec.ts': 11,
  'libs/tasks/src/task-journal.spec.ts': 11,
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

import { setTimeout as delay } from 'node:timers/promises';
import type { FakeAgent, FakeCall } from '../support/fake-agent.js';
import { type FakeBehaviour, when } from '../support/fake-behaviour.js';
import { useCluster } from '../support/cluster-stage.js';
import type { Parley } from '../support/parley.js';
import { testRandom } from '../support/test-random.js';
import { range } from '../support/sse.js';
import { logProblems, type StoredLog, storedLog, storedLogs } from '../support/stored-log.js';
import { until } from '../support/until.js';
import { nodeHistories } from './chaos/node-history.js';
import { echo, external, input, output, script, unique, type Workflow } from '../support/workflow.js';

const stage = useCluster({ replicas: 3 });

/** Number of kills: the first while an agent is answering, the others at any time. */
const KILLS = 6;
const NODE_MS = 150;

/**
 * Creates a workflow of ten slow nodes in two branches that meet: remote agents that answer without a stream, remote
 * agents that stream, and local nodes.
 */
function tenNodes(whole: string, streaming: string): Workflow {
  const slow = (id: string) => script(id, { status: 'working' }, { sleep: NODE_MS }, { complete: id });
  const called = (id: string, url: string) => external(id, url, { prompt: `${id} of {{in}}` });
  const edges = ['in>w1', 'w1>s1', 's1>w2', 'w2>s2', 'in>o1', 'o1>o2', 'o2>o3', 's2>join', 'o3>join', 'join>out'];
  return {
    name: unique('kills'),
    nodes: [
      input('in'),
      ...['w1', 'w2'].map((id) => called(id, whole)),
      ...['s1', 's2'].map((id) => called(id, streaming)),
      ...['o1', 'o2', 'o3'].map(slow),
      echo('join', { prompt: '{{w2}} and {{s2}}' }),
      output('out'),
    ],
    edges: edges.map((edge) => {
      const [from = '', to = ''] = edge.split('>');
      return { from, to };
    }),
  };
}

const slowly = (call: FakeCall): FakeBehaviour => ({
  steps: [
    { status: 'TASK_STATE_WORKING' },
    { sleep: NODE_MS },
    { artifact: { parts: [{ text: `did ${call.text}` }] } },
    { status: 'TASK_STATE_COMPLETED' },
  ],
});

describe(`the replica that executes a run of ten nodes is killed, ${KILLS} times by chance`, () => {
  let whole: FakeAgent;
  let streaming: FakeAgent;
  let runIds: string[];
  const recoveries: number[] = [];

  beforeAll(async () => {
    const random = testRandom('kills');
    [whole, streaming] = await Promise.all([stage.fake(), stage.fake({ streaming: true })]);
    // A run does not end before its owner is known; the first one waits for the kill.
    let letGo = -1;
    whole.always((call) => {
      const [, run] = /^w1 of run (\d+)$/.exec(call.text ?? '') ?? [];
      return run === undefined ? slowly(call) : when(() => letGo >= Number(run), slowly(call));
    });
    streaming.always(slowly);
    const { name } = await stage.api.save(tenNodes(whole.url, streaming.url));
    runIds = [];
    const starts: Promise<unknown>[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const runId = await stage.api.start(name, { in: `run ${kill}` });
      runIds.push(runId);
      const pause = kill === 0 ? 0 : random.between(0, 4 * NODE_MS);
      await killOwner(runId, async () => {
        if (kill === 0) await until(() => sendsOf('w1', 0).length > 0, { what: 'the first agent to be called' });
        else {
          letGo = kill;
          await delay(pause);
        }
      });
      letGo = kill;
      // The next one starts beside the next run; two at least are there to be chosen from.
      const starting = stage.cluster.add();
      starts.push(starting);
      if (stage.cluster.replicas.length < 2) await starting;
    }
    await Promise.all(starts);
    await Promise.all(runIds.map((runId) => stage.api.ended(runId)));
  });

  /**
   * Kills the replica that executes the run when `time` has resolved, and measures the time until another replica
   * executes it, or the run has ended.
   */
  async function killOwner(runId: string, time: () => Promise<unknown>): Promise<void> {
    const owner: Parley = await stage.cluster.owned(runId);
    const claim = async () => (await stage.database.query<Claim>(CLAIM, [runId]))[0]?.replica_id;
    const killed = await claim();
    await time();
    await stage.cluster.kill(owner);
    const from = performance.now();
    await until(async () => (await claim()) !== killed, { what: 'another replica to take over' });
    recoveries.push(performance.now() - from);
  }

  it('all runs complete, and every log is gap-free with exactly one end', async () => {
    const runs = await Promise.all(runIds.map((runId) => stage.api.run(runId)));
    expect(runs.map(({ status }) => status)).toEqual(runIds.map(() => 'completed'));
    expect(runs.map(({ result }) => result?.[0]?.parts[0]?.text)).toEqual(
      range(0, runIds.length - 1).map((n) => `did w2 of run ${n} and did s2 of run ${n}`),
    );
    const logs = await storedLogs(stage.database.query);
    expect(logs.flatMap(logProblems)).toEqual([]);
    expect(logs.filter(({ state }) => state !== 'TASK_STATE_COMPLETED')).toEqual([]);
    recoveries.sort((a, b) => a - b);
    const at = (quantile: number) => Math.round(recoveries[Math.ceil(quantile * recoveries.length) - 1] ?? 0);
    process.stderr.write(`${runIds.length} kills: taken over after p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`);
  });

  it('no finished node ran twice', async () => {
    for (const [index, runId] of runIds.entries()) {
      const log = await storedLog(stage.database.query, runId);
      const finished = finishedNodes(log);
      expect([...finished.keys()].toSorted()).toEqual('in join o1 o2 o3 out s1 s2 w1 w2'.split(' '));
      for (const [node, at] of finished) {
        const late = sendsOf(node, index).filter(({ time }) => time > at.getTime());
        expect({ runId, node, late: late.length }).toEqual({ runId, node, late: 0 });
      }
    }
  });

  it('every dispatch that a kill cut was repeated with its own messageId, or its Task was followed', () => {
    let cut = 0;
    for (const index of runIds.keys()) {
      for (const node of ['w1', 'w2', 's1', 's2']) {
        const sends = sendsOf(node, index);
        expect(new Set(sends.map(({ message }) => message?.messageId)).size).toBe(1);
        for (const call of sends.filter(({ aborted }) => aborted)) {
          cut += 1;
          expect(sends.some(({ at }) => at > call.at) || wasFollowed(call)).toBe(true);
        }
      }
    }
    process.stderr.write(`${runIds.length} kills: ${cut} dispatches were cut\n`);
    expect(cut).toBeGreaterThan(0);
  });

  function sendsOf(node: string, index: number): FakeCall[] {
    return [...whole.sends, ...streaming.sends].filter(({ text }) => text === `${node} of run ${index}`);
  }

  function wasFollowed({ at, message }: FakeCall): boolean {
    const made = streaming.tasksMadeBy(message?.messageId);
    return streaming.calls.some(({ at: later, method = '', body }) => {
      const { id } = (body?.params ?? {}) as { id?: string };
      return later > at && /^(SubscribeToTask|GetTask)$/.test(method) && made.includes(id ?? '');
    });
  }
});

interface Claim {
  replica_id: string | null;
}

const CLAIM = 'SELECT replica_id FROM task WHERE task_id = $1';

/** Returns the time at which each node of a run was recorded as completed. Throws if a node was recorded twice. */
function finishedNodes(log: StoredLog): Map<string, Date> {
  return new Map(
    nodeHistories(log).map(({ node, completedAt }) => {
      const [at, again] = completedAt;
      if (at === undefined || again !== undefined) throw new Error(`${node} was completed ${completedAt.length} times`);
      return [node, at];
    }),
  );
}

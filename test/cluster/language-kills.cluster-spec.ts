import type { JsonObject } from '#libs/protocol';
import { useCluster } from '../support/cluster-stage.js';
import type { FakeAgent, FakeCall } from '../support/fake-agent.js';
import { after, answers, ends, type FakeBehaviour } from '../support/fake-behaviour.js';
import { logProblems, type StoredLog, storedLog } from '../support/stored-log.js';
import { takeTurns } from '../support/turns.js';
import { until } from '../support/until.js';
import { external, type Run, unique, type Workflow } from '../support/workflow.js';

takeTurns();

const stage = useCluster({ replicas: 2 });

/** Of as many runs the replica is killed, each further on in its log. */
const KILLS = 20;
const CALL_MS = 60;

type Keys = object;

/** A branch, a list with an entry that is tried again, a loop, a failure that is handled, a wait, and what runs at the end. */
function everything(agent: FakeAgent): Workflow {
  const called = (id: string, prompt: string, keys: Keys = {}): Keys => ({
    ...external(id, agent.url, { prompt: `${prompt} of {{in}}` }),
    ...keys,
  });
  const set = (id: string, values: JsonObject, keys: Keys = {}): Keys => ({
    id,
    type: 'set',
    config: { values },
    ...keys,
  });
  const retry = { attempts: 3, on: ['server-error'], delay: '20ms' };
  const nodes: Keys[] = [
    { id: 'in', type: 'input' },
    set('list', { items: '${[1, 2, 3]}' }, { branch: 'first' }),
    called('m', 'entry ${item}', { each: { items: 'nodes.list.data.items', concurrency: 2 }, retry }),
    called('never', 'never'),
    called('draft', 'draft ${iteration}'),
    set('review', { ok: '${iteration >= 2}' }),
    called('bad', 'bad'),
    called('catcher', 'caught ${nodes.bad.error.kind}'),
    { id: 'pause', type: 'wait', config: { for: '100ms' } },
    { id: 'out', type: 'output', config: { prompt: '${nodes.m.data}, {{draft}}, {{catcher}}' } },
    called('exit', 'exit'),
  ];
  const edges: Keys[] = [
    { from: 'in', to: 'list' },
    { from: 'list', to: 'm', when: 'size(nodes.list.data.items) == 3' },
    { from: 'list', to: 'never' },
    { from: 'in', to: 'draft' },
    { from: 'draft', to: 'review' },
    { from: 'review', to: 'draft', loop: { max_iterations: 5, exit_when: 'nodes.review.data.ok' } },
    { from: 'in', to: 'bad' },
    { from: 'bad', to: 'catcher', on: 'failure', when: "error.kind == 'failed'" },
    { from: 'in', to: 'pause' },
    ...['m', 'never', 'review', 'catcher', 'pause'].map((from) => ({ from, to: 'out' })),
  ];
  const onExit = [{ node: 'exit' }];
  return { name: unique('everything'), nodes, edges, language: 2, onExit } as unknown as Workflow;
}

/** The text that an agent is sent for each instance of a node, without the input that it ends with. */
const TEXTS: Record<string, string> = {
  ...Object.fromEntries([1, 2, 3].map((item) => [`m[${item - 1}]`, `entry ${item}`])),
  'draft@1': 'draft 1',
  'draft@2': 'draft 2',
  bad: 'bad',
  catcher: 'caught failed',
  exit: 'exit',
};

describe('a run that has everything, whose replica is killed anywhere', () => {
  let agent: FakeAgent;
  let runIds: string[];

  /** The second entry is refused once in each run, by an agent that does not know what it has done before. */
  function behaviour({ text = '', message }: FakeCall): FakeBehaviour {
    if (text.startsWith('bad')) return after(CALL_MS, ends('TASK_STATE_FAILED', 'boom'));
    const before = agent.sends.filter((call) => call.text === text && call.message?.messageId !== message?.messageId);
    if (text.startsWith('entry 2') && before.length === 0) return after(CALL_MS, { httpStatus: 503 });
    return after(CALL_MS, answers(`did ${text.split(' of ')[0]}`));
  }

  beforeAll(async () => {
    agent = await stage.fake({ streaming: true });
    agent.always(behaviour);
    const { name } = await stage.api.save(everything(agent));
    const whole = await stage.api.ended(await stage.api.start(name, { in: 'whole' }));
    expect(whole.error).toBeUndefined();
    const { lastSequence } = await storedLog(stage.database.query, whole.runId);
    runIds = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const runId = await stage.api.start(name, { in: `run ${kill}` });
      runIds.push(runId);
      await reached(runId, 1 + Math.floor((kill * (lastSequence - 4)) / KILLS));
      await stage.cluster.kill(await stage.cluster.owned(runId));
      await stage.cluster.add();
    }
    await Promise.all(runIds.map((runId) => stage.api.ended(runId, 60_000)));
  }, 400_000);

  /** Waits until the log of a run is that long. */
  function reached(runId: string, sequence: number): Promise<unknown> {
    const isThere = async (): Promise<boolean> => {
      const [task] = await stage.database.query<{ last_sequence: number }>(
        'SELECT last_sequence::int FROM task WHERE task_id = $1',
        [runId],
      );
      return (task?.last_sequence ?? 0) >= sequence;
    };
    return until(isThere, { what: `event ${sequence}` });
  }

  it('comes to the same as without', async () => {
    const runs = await Promise.all(runIds.map((runId) => stage.api.run(runId)));
    const result = '["did entry 1","did entry 2","did entry 3"], did draft 2, did caught failed';
    expect(runs.map(({ status, error, state }) => ({ status, error, out: state['out'] }))).toEqual(
      Array(KILLS).fill({ status: 'completed', error: undefined, out: result }),
    );
    expect(runs.map(shown)).toEqual(Array(KILLS).fill(shown(runs[0])));
  });

  it('has a log without a gap, in which nothing ends twice', async () => {
    for (const runId of runIds) {
      const log = await storedLog(stage.database.query, runId);
      expect(logProblems(log)).toEqual([]);
      const twice = notes(log).filter(
        ({ type, name }, index, all) =>
          ENDS.has(type) && all.findIndex((note) => note.type === type && note.name === name) !== index,
      );
      expect({ runId, twice }).toEqual({ runId, twice: [] });
    }
  });

  it('calls nobody again who has answered', async () => {
    for (const [index, runId] of runIds.entries()) {
      const log = await storedLog(stage.database.query, runId);
      for (const { type, name, at } of notes(log)) {
        const text = `${TEXTS[name] ?? ''} of run ${index}`;
        if (!ENDS.has(type) || TEXTS[name] === undefined) continue;
        const late = agent.sends.filter((call) => call.text === text && performance.timeOrigin + call.at > at);
        expect({ runId, name, late: late.length }).toEqual({ runId, name, late: 0 });
      }
      expect(agent.sends.filter(({ text }) => text === `never of run ${index}`)).toEqual([]);
    }
  });
});

const ENDS = new Set(['node.completed', 'node.error', 'loop.ended', 'run.ending']);

function shown(run: Run | undefined): unknown {
  return Object.entries(run?.nodes ?? {}).map(([id, { status, attempts }]) => [id, status, attempts]);
}

interface Note {
  type: string;
  /** The instance of the node. */
  name: string;
  /** In milliseconds of the epoch. */
  at: number;
}

function notes({ events }: StoredLog): Note[] {
  return events.flatMap(({ json, at }) => {
    const [event] = Object.values(JSON.parse(json) as Record<string, { metadata?: Record<string, Step> }>);
    const note = event?.metadata?.['parley/event'];
    if (note === undefined) return [];
    return [{ type: note.type, name: note.instance ?? note.node_id ?? '', at: Date.parse(at) }];
  });
}

interface Step {
  type: string;
  node_id?: string;
  instance?: string;
}

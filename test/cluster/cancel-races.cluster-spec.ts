import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, Task } from '#libs/protocol';
import { rpc, stream } from '../support/a2a.js';
import { useCluster } from '../support/cluster-stage.js';
import { testRandom } from '../support/test-random.js';
import { logProblems, stateOf, storedLog } from '../support/stored-log.js';
import { linear, script, unique } from '../support/workflow.js';

const stage = useCluster({ replicas: 3 });

const RACES = 100;
const SIDE_BY_SIDE = 10;
/** Interval of the races whose winner is fixed: in each ten, the work wins one, and the cancel another. */
const DECIDED = 10;
/**
 * Milliseconds of work that exceed half a second, since a replica polls for cancels by other replicas twice a second.
 */
const LONGEST_WORK = 700;
/** Milliseconds of a work that a cancel ends first, even on a machine that delays both by seconds. */
const ENDLESS_WORK = 120_000;

interface Race {
  taskId: string;
  /** Last state in the sender's stream. */
  sender: string | undefined;
  /** State, or error code, in the answer to the canceler. */
  canceler: string | number | undefined;
}

describe('cancel against completion, at different replicas', () => {
  it(`${RACES} races end in one state each: the row, the log, the sender and the canceler agree`, async () => {
    const random = testRandom('cancel races');
    const work = async (sleep: number): Promise<{ name: string; sleep: number }> => {
      const name = unique('race');
      const steps: JsonObject[] = [{ status: 'working' }, { sleep }, { artifact: { parts: [{ text: 'x' }] } }];
      await stage.api.save(linear(name, script('s', ...steps, { complete: 'done' })));
      return { name, sleep };
    };
    const works = await Promise.all([0, 1, 2, 3].map((quarter) => work(100 + (LONGEST_WORK / 4) * quarter)));
    const endless = await work(ENDLESS_WORK);
    const race = async (index: number): Promise<Race> => {
      const [isLate, isEarly] = [index % DECIDED === 0, index % DECIDED === 1];
      const { name, sleep } = isEarly ? endless : random.pick(works);
      const [sendAt, cancelAt] = random.pick([
        [0, 1],
        [1, 2],
        [2, 0],
        [0, 0],
      ] as const);
      const pause = random.between(0, sleep + 100);
      const reader = await stream(stage.at(sendAt).base(name, 's'), 'go');
      const first = (await reader.next())?.data.result;
      if (first === undefined || !('task' in first)) throw new Error('The stream did not begin with the Task');
      const { id } = first.task;
      if (isLate) await reader.find(({ data }) => stateOf(data.result!) === 'TASK_STATE_COMPLETED');
      else if (!isEarly) await delay(pause);
      const { body } = await rpc<Task>(stage.at(cancelAt).base(name, 's'), 'CancelTask', { id });
      const last = (await reader.all()).at(-1)?.data.result;
      return { taskId: id, sender: last && stateOf(last), canceler: body.result?.status.state ?? body.error?.code };
    };
    const races: Race[] = [];
    while (races.length < RACES)
      races.push(...(await Promise.all(Array.from({ length: SIDE_BY_SIDE }, (_, index) => race(index)))));
    const told = { canceled: 0, completed: 0 };
    for (const { taskId, sender, canceler } of races) {
      const log = await storedLog(stage.database.query, taskId);
      const canceled = log.state === 'TASK_STATE_CANCELED';
      told[canceled ? 'canceled' : 'completed'] += 1;
      expect({ problems: logProblems(log), sender, canceler }).toEqual({
        problems: [],
        sender: log.state,
        canceler: canceled ? 'TASK_STATE_CANCELED' : -32002,
      });
      expect(['TASK_STATE_CANCELED', 'TASK_STATE_COMPLETED']).toContain(log.state);
    }
    process.stderr.write(`cancel races: ${JSON.stringify(told)}\n`);
    expect(Math.min(told.canceled, told.completed)).toBeGreaterThan(0);
  });
});

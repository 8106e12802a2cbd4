import { until } from '../../support/until.js';
import { type Api, linear, script } from '../../support/workflow.js';
import type { TriedDatabase } from './tried-database.js';

/** Name of the workflow that all schedules run. */
const WORKFLOW = 'tick';
const EVERY_SECONDS = 2;
const CREATE_WITHIN_MS = 60_000;
/** Milliseconds within which the job of a start that has failed several times runs again. */
const START_WITHIN_MS = 300_000;

interface StoredFiring {
  name: string;
  due: Date;
  decided_at: Date;
  state: string;
  run_id: string;
  task_state: string | null;
  /** State of the job that starts the run, as a text; null if there is none. */
  job: string | null;
}

/** Schedules of a trial: each begins a run every two seconds, and catches up on times that found no replica. */
export class TriedSchedules {
  private constructor(
    private readonly api: Api,
    private readonly database: Pick<TriedDatabase, 'query'>,
    private readonly names: readonly string[],
  ) {}

  static async create(api: Api, database: Pick<TriedDatabase, 'query'>, count: number): Promise<TriedSchedules> {
    const names = Array.from({ length: count }, (_, index) => `every-${index}`);
    if (count > 0) await api.save(linear(WORKFLOW, script('tick', { complete: 'done' })));
    const schedules = new TriedSchedules(api, database, names);
    const every = { workflow: WORKFLOW, every: `${EVERY_SECONDS}s`, overlap: 'allow', catchUp: '1h' };
    for (const name of names) await schedules.request('POST', '/schedules', { name, ...every }, 201);
    return schedules;
  }

  /** Pauses all schedules, after which no time is decided. */
  async pause(): Promise<void> {
    for (const name of this.names) await this.request('POST', `/schedules/${name}/pause`, undefined, 200);
  }

  /** Number of decisions so far. */
  async count(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>('SELECT count(*)::int AS count FROM schedule_firing');
    return row?.count ?? 0;
  }

  /**
   * Returns the times that were lost, decided early or twice, or have no run of their own, and jobs that have given up.
   * Waits for the runs of decisions whose replica was killed between the two.
   */
  async findBreaches(): Promise<string[]> {
    const isStarted = async (): Promise<boolean> => (await this.database.query(WAITING)).length === 0;
    await until(isStarted, { within: START_WITHIN_MS }).catch(() => undefined);
    const firings = await this.database.query<StoredFiring>(FIRINGS);
    const runs = await this.database.query<{ task_id: string }>(RUNS, [`workflows/${WORKFLOW}`]);
    const decided = new Set(firings.map(({ run_id }) => run_id));
    return [
      ...this.names.flatMap((name) => gapsOf(firings.filter((it) => it.name === name))),
      ...firings.filter((it) => it.decided_at < it.due).map((it) => `${shown(it)} was decided early`),
      ...firings.filter((it) => it.state !== 'started').map((it) => `${shown(it)} is ${it.state}, job ${it.job}`),
      ...firings.filter((it) => it.task_state === null).map((it) => `${shown(it)} has no run`),
      ...runs.filter(({ task_id }) => !decided.has(task_id)).map(({ task_id }) => `run ${task_id} belongs to no time`),
      ...(decided.size < firings.length ? ['two times have one run'] : []),
      ...(await this.database.query<{ key: string }>(GIVEN_UP)).map(({ key }) => `the job ${key} has given up`),
    ];
  }

  /** Makes a request until a replica answers it with the wanted status. A repeated creation may find its schedule. */
  private async request(method: string, path: string, body: object | undefined, wanted: number): Promise<void> {
    let last = '';
    const isDone = async (): Promise<boolean> => {
      const { status, text } = await this.api.call(method, path, body).catch((error: unknown) => ({
        status: 599,
        text: String(error),
      }));
      last = `${status} ${text}`;
      if (status === wanted || (status === 409 && method === 'POST' && wanted === 201)) return true;
      if (status < 500) throw new Error(last);
      return false;
    };
    await until(isDone, { within: CREATE_WITHIN_MS, what: () => `${method} ${path}: ${last}` });
  }
}

/** Returns the times between the first and the last decision of a schedule that were not decided. */
function gapsOf(firings: readonly StoredFiring[]): string[] {
  return firings.flatMap((it, index) => {
    const before = firings[index - 1];
    const seconds = before === undefined ? EVERY_SECONDS : (it.due.getTime() - before.due.getTime()) / 1_000;
    return seconds === EVERY_SECONDS ? [] : [`${shown(it)} was decided ${seconds} s after the time before`];
  });
}

function shown({ name, due }: StoredFiring): string {
  return `${name} of ${due.toISOString()}`;
}

const FIRINGS = `
  SELECT schedule.name, firing.due, firing.decided_at, firing.state, firing.run_id, task.state AS task_state,
    (SELECT json_build_object('at', run_at, 'attempts', attempts, 'lockedBy', locked_by, 'error', left(last_error, 200))::text
     FROM graphile_worker.jobs WHERE key = 'schedules.start/' || firing.firing_id LIMIT 1) AS job
  FROM schedule_firing AS firing JOIN schedule USING (schedule_id) LEFT JOIN task ON task.task_id = firing.run_id
  ORDER BY schedule.name, firing.due`;
const WAITING = `SELECT FROM schedule_firing WHERE state IN ('starting', 'queued')`;
const RUNS = 'SELECT task_id FROM task WHERE agent = $1';
// A job without its key has been replaced by a newer one, while a replica that was killed ran it.
const GIVEN_UP = `
  SELECT key FROM graphile_worker.jobs
  WHERE task_identifier LIKE 'schedules.%' AND attempts >= max_attempts AND key IS NOT NULL`;

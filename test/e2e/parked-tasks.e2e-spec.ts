import { Logger } from '@nestjs/common';
import { AgentExecutor, type RequestContext } from '#libs/agents';
import { type Message, statusUpdate, type Task, type TaskState, userMessage } from '#libs/protocol';
import type { RecordedEvent, TaskEvent } from '#libs/tasks';
import { asleepThoughDue, idleClaims, takenUp } from '../support/idle-claims.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { agentAt, callAt, type InnerReplica, innerReplica } from '../support/replica.js';
import type { Fault } from '../support/statement-faults.js';
import { before, until } from '../support/until.js';

const FAULTS: readonly Fault[] = ['refused', 'unanswered'];
/** No scenario has more statements than this. */
const MOST_STATEMENTS = 40;
const HOUR_MS = 3_600_000;
const SOON_MS = 300;

/** Sleeps for as many milliseconds as its Message says, then completes; and says so each time it is executed. */
class Sleeper extends AgentExecutor {
  override readonly recovery = 'restart' as const;
  override readonly cancelGrace: number = 10_000;
  readonly executed: string[] = [];

  constructor(private readonly asleepAs: TaskState = 'TASK_STATE_WORKING') {
    super();
  }

  /** How often a Task was gone on with. */
  woken(taskId: string): number {
    return this.executed.filter((it) => it === taskId).length - 1;
  }

  async *execute(context: RequestContext): AsyncGenerator<TaskEvent> {
    this.executed.push(context.taskId);
    if (context.signal.aborted) return yield statusUpdate(context, 'TASK_STATE_CANCELED', 'woken to be canceled');
    const slept = (await context.readTaskLog()).length > 1;
    if (slept) return yield statusUpdate(context, 'TASK_STATE_COMPLETED', 'slept well');
    const ms = Number(context.userMessage.parts[0]?.text);
    yield { ...statusUpdate(context, this.asleepAs, 'zzz'), parks: new Date(Date.now() + ms) };
  }
}

/** Goes to sleep when it is canceled, as a process does that has not heard of it. */
class HardOfHearing extends Sleeper {
  override async *execute(context: RequestContext): AsyncGenerator<TaskEvent> {
    if (context.signal.aborted) return yield* super.execute(context);
    this.executed.push(context.taskId);
    yield statusUpdate(context, 'TASK_STATE_WORKING');
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
    yield { ...statusUpdate(context, 'TASK_STATE_WORKING'), parks: new Date(Date.now() + HOUR_MS) };
  }
}

const sleeper = new Sleeper();
const asking = new Sleeper('TASK_STATE_INPUT_REQUIRED');
const SLEEPER = agentAt('workflows/sleeper', sleeper);
const ASKING = agentAt('workflows/asking', asking);
const HARD_OF_HEARING = agentAt('workflows/hard-of-hearing', new HardOfHearing());
const AGENTS = [SLEEPER, ASKING, HARD_OF_HEARING];

let server: TestDatabase;
/** Neither of them does jobs, nor sweeps unless it is told to. */
let one: InnerReplica;
let two: InnerReplica;
const replicas: InnerReplica[] = [];

beforeAll(async () => {
  Logger.overrideLogger(false);
  server = await freshDatabase({ empty: true });
  [one, two] = [await replica(), await replica()];
});

afterAll(async () => {
  for (const it of replicas) await it.end();
  await server.drop();
});

describe('A parked Task', () => {
  it('is nobody’s: no claim, no execution, nothing to take over; and its job is due when it is', async () => {
    const { taskId } = begin(one, HOUR_MS);
    await parked(taskId);
    expect(one.registry.has(taskId)).toBe(false);
    expect(await idleClaims(server, one)).toEqual([]);
    await one.recovery.sweepOnce();
    await two.recovery.sweepOnce();
    expect(sleeper.woken(taskId)).toBe(0);
    const [row] = await server.query(
      `SELECT task.wake_at = job.run_at AS together FROM task, graphile_worker.jobs AS job
       WHERE task_id = $1 AND job.key = 'tasks.wake/' || $1`,
      [taskId],
    );
    expect(row).toEqual({ together: true });
  });

  it('is woken once, by the job, in one of the replicas that do jobs; whoever follows it sees it all', async () => {
    const doing = [await replica({ jobs: true }), await replica({ jobs: true })];
    const execution = begin(one, SOON_MS);
    const { taskId } = execution;
    await execution.accepted;
    const seen = follow(one, taskId);
    await expect(before(execution.settled)).rejects.toThrow('is parked');
    expect((await before(seen)).map(stateOf)).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ]);
    expect(sleeper.woken(taskId)).toBe(1);
    await jobsDone(taskId);
    expect(sleeper.woken(taskId)).toBe(1);
    for (const it of doing) await it.leave();
  });

  it('is woken once however often it is told to be, and not before its time', async () => {
    const { taskId } = begin(one, HOUR_MS);
    await parked(taskId);
    const wake = (): Promise<unknown> =>
      Promise.all(Array.from({ length: 8 }, (_, index) => (index % 2 ? one : two).recovery.wakeTask(taskId)));
    await wake();
    expect(sleeper.woken(taskId)).toBe(0);
    await isDue(taskId);
    await wake();
    await ended(taskId, 'TASK_STATE_COMPLETED');
    await wake();
    expect(sleeper.woken(taskId)).toBe(1);
  });

  it('is woken by a sweep where its job is gone', async () => {
    const { taskId } = begin(one, HOUR_MS);
    await parked(taskId);
    await server.query(`SELECT graphile_worker.remove_job('tasks.wake/' || $1)`, [taskId]);
    await isDue(taskId);
    await two.recovery.sweepOnce();
    await ended(taskId, 'TASK_STATE_COMPLETED');
    expect(sleeper.woken(taskId)).toBe(1);
  });

  it('takes no Message while it works, and sleeps on', async () => {
    const { taskId } = begin(one, HOUR_MS);
    await parked(taskId);
    const resumed = two.registry.resumeExecution(
      SLEEPER,
      taskId,
      { message: userMessage('hello?') },
      callAt(SLEEPER.path),
    );
    await expect(resumed).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    await parked(taskId);
    await isDue(taskId);
    await two.recovery.wakeTask(taskId);
    await ended(taskId, 'TASK_STATE_COMPLETED');
  });

  it('that asks something takes the answer anywhere, and is not woken after it', async () => {
    const { taskId } = begin(one, HOUR_MS, ASKING);
    await parked(taskId);
    const answer = { message: userMessage('here') };
    const execution = await two.registry.resumeExecution(ASKING, taskId, answer, callAt(ASKING.path));
    await before(execution.settled);
    await two.recovery.wakeTask(taskId);
    expect(asking.woken(taskId)).toBe(1);
    expect(await jobsDueLater(taskId)).toBe(0);
    expect((await log(taskId)).map(stateOf)).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ]);
  });

  it('that asks something is at work again when it is woken', async () => {
    const { taskId } = begin(one, HOUR_MS, ASKING);
    await parked(taskId);
    await isDue(taskId);
    await two.recovery.wakeTask(taskId);
    await ended(taskId, 'TASK_STATE_COMPLETED');
    expect((await log(taskId)).map(stateOf)).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ]);
  });

  it('is canceled by any replica, and is not woken after that', async () => {
    const { taskId } = begin(one, HOUR_MS);
    await parked(taskId);
    const task = await before(two.registry.cancelAndWait(SLEEPER, taskId, callAt(SLEEPER.path)));
    expect(textOf(task)).toBe('woken to be canceled');
    await two.recovery.wakeTask(taskId);
    expect(await asleepThoughDue(server.query)).toEqual([]);
    expect(await jobsDueLater(taskId)).toBe(0);
  });

  it.each([
    ['the replica that parks it', () => one],
    ['another one', () => two],
  ])('is canceled by %s also where it was parked before that was heard of', async (_by, by) => {
    const { taskId } = one.registry.beginExecution(HARD_OF_HEARING, message('go'), callAt(HARD_OF_HEARING.path));
    await until(async () => (await state(taskId)) === 'TASK_STATE_WORKING', { what: 'the Task to be worked on' });
    const task = await before(by().registry.cancelAndWait(HARD_OF_HEARING, taskId, callAt(HARD_OF_HEARING.path)));
    expect(textOf(task)).toBe('woken to be canceled');
  });

  it('is canceled when somebody wished so and died', async () => {
    const { taskId } = begin(one, HOUR_MS);
    await parked(taskId);
    await two.store.requestCancel(taskId);
    await one.recovery.sweepOnce();
    await until(async () => (await state(taskId)) !== 'TASK_STATE_WORKING', { what: 'the Task to end' });
    expect(await asleepThoughDue(server.query)).toEqual([]);
  });

  it('outlives the replica that parked it, and the one that dies while it wakes it', async () => {
    const [first, second] = [await replica(), await replica()];
    const { taskId } = begin(first, HOUR_MS);
    await parked(taskId);
    await first.die();
    await isDue(taskId);
    // It dies between its claim and what it does with it.
    await second.store.claimTask(taskId, second.life.replicaId, 'claimed', 'due');
    await second.die();
    await before(takenUp(server, one));
    await until(() => one.recovery.sweepOnce().then(async () => (await state(taskId)) === 'TASK_STATE_COMPLETED'));
    expect(sleeper.woken(taskId)).toBe(1);
  });

  it('is left alone by a replica that is told to end, which does not wait for it', async () => {
    const leaving = await replica();
    const { taskId } = begin(leaving, HOUR_MS);
    await parked(taskId);
    await before(leaving.leave());
    await parked(taskId);
    await isDue(taskId);
    await expect(leaving.recovery.wakeTask(taskId)).rejects.toThrow('This process stops');
    await one.recovery.wakeTask(taskId);
    await ended(taskId, 'TASK_STATE_COMPLETED');
  });
});

describe.each(FAULTS)('When a statement is %s, nothing is claimed and idle, or due and asleep:', (fault) => {
  it('of the batch that parks a Task', async () => {
    const write = one.store.writeBatch.bind(one.store);
    let failed = 0;
    one.store.writeBatch = async (batch) => {
      if (failed > 0 || !batch.some(({ wakeAt }) => wakeAt)) return write(batch);
      failed += 1;
      if (fault === 'unanswered') await write(batch);
      throw new Error('Connection terminated unexpectedly');
    };
    const { taskId } = begin(one, HOUR_MS);
    await parked(taskId);
    one.store.writeBatch = write;
    expect(failed).toBe(1);
    await until(() => !one.registry.has(taskId), { what: 'the execution to end' });
    expect(await idleClaims(server, one)).toEqual([]);
    expect(await jobsOf(taskId)).toBe(1);
    await isDue(taskId);
    await two.recovery.wakeTask(taskId);
    await ended(taskId, 'TASK_STATE_COMPLETED');
    expect(sleeper.woken(taskId)).toBe(1);
  });

  it.each([
    ['works', SLEEPER],
    ['asks', ASKING],
  ])('of waking one that %s', async (_what, agent) => {
    const executor = agent.executor as Sleeper;
    await eachStatement(one, fault, async (arm) => {
      const { taskId } = begin(one, HOUR_MS, agent);
      await parked(taskId);
      await isDue(taskId);
      arm();
      await one.recovery.wakeTask(taskId).catch(() => undefined);
      one.faults.fail(0);
      await takenUp(server, one);
      await until(
        async () => (await state(taskId)) === 'TASK_STATE_COMPLETED' || takenUp(server, one).then(() => false),
      );
      expect(executor.woken(taskId)).toBe(1);
    });
  });

  it('of a sweep for what is overdue', async () => {
    await eachStatement(one, fault, async (arm) => {
      const { taskId } = begin(one, HOUR_MS);
      await parked(taskId);
      await isDue(taskId);
      arm();
      await one.recovery.sweepOnce().catch(() => undefined);
      one.faults.fail(0);
      await takenUp(server, one);
      await ended(taskId, 'TASK_STATE_COMPLETED');
      expect(sleeper.woken(taskId)).toBe(1);
    });
  });
});

async function replica(options: { jobs?: boolean } = {}): Promise<InnerReplica> {
  const made = await innerReplica(server.url, AGENTS, undefined, options);
  replicas.push(made);
  return made;
}

function begin(owner: InnerReplica, ms: number, agent = SLEEPER) {
  return owner.registry.beginExecution(agent, message(String(ms)), callAt(agent.path));
}

function message(text: string): { message: Message } {
  return { message: userMessage(text) };
}

/** Waits until nobody claims it, and it has a time. */
async function parked(taskId: string): Promise<void> {
  const asleep = async (): Promise<boolean> => {
    const [row] = await server.query(
      'SELECT FROM task WHERE task_id = $1 AND wake_at IS NOT NULL AND replica_id IS NULL',
      [taskId],
    );
    return row !== undefined;
  };
  await until(asleep, { what: `task ${taskId} to be parked` });
  await until(() => replicas.every(({ registry }) => !registry.has(taskId)), { what: 'its execution to be over' });
}

/** Its time comes; its job's does not. */
async function isDue(taskId: string): Promise<void> {
  await server.query('UPDATE task SET wake_at = now() WHERE task_id = $1', [taskId]);
}

async function ended(taskId: string, end: TaskState): Promise<void> {
  await until(async () => (await state(taskId)) === end, { what: `task ${taskId} to be ${end}` });
}

async function state(taskId: string): Promise<string | undefined> {
  return (await two.store.readHeader(taskId))?.state;
}

function log(taskId: string): Promise<RecordedEvent[]> {
  return two.store.readEvents(taskId, 0, 100);
}

async function follow(by: InnerReplica, taskId: string): Promise<RecordedEvent[]> {
  const seen: RecordedEvent[] = [];
  for await (const event of by.feed.followTask(taskId, 0)) seen.push(event);
  return seen;
}

function stateOf({ event }: RecordedEvent): TaskState | undefined {
  if ('task' in event) return event.task.status.state;
  return 'statusUpdate' in event ? event.statusUpdate.status.state : undefined;
}

function textOf(task: Task): string | undefined {
  return task.status.message?.parts[0]?.text;
}

async function jobsOf(taskId: string): Promise<number> {
  const [row] = await server.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM graphile_worker.jobs WHERE key = 'tasks.wake/' || $1`,
    [taskId],
  );
  return row?.n ?? -1;
}

/** Those that would wake it some time, if it were asleep. */
async function jobsDueLater(taskId: string): Promise<number> {
  const [row] = await server.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM graphile_worker.jobs
     WHERE key = 'tasks.wake/' || $1 AND run_at > now() + interval '1 minute'`,
    [taskId],
  );
  return row?.n ?? -1;
}

async function jobsDone(taskId: string): Promise<void> {
  await until(async () => (await jobsOf(taskId)) === 0, { what: 'the job to be done' });
}

/** Does the scenario again and again, each time with the next one of its statements failing, until it has no more. */
async function eachStatement(
  owner: InnerReplica,
  fault: Fault,
  scenario: (arm: () => void) => Promise<void>,
): Promise<void> {
  for (let at = 1; at <= MOST_STATEMENTS; at += 1) {
    let failed = false;
    await scenario(() =>
      owner.faults.fail(at, fault, /\btask(_event|_log)?\b|replica/, () => {
        failed = true;
        return new Error('Connection terminated unexpectedly');
      }),
    );
    expect(await idleClaims(server, owner)).toEqual([]);
    expect(await asleepThoughDue(server.query)).toEqual([]);
    if (!failed) {
      expect(at).toBeGreaterThan(1);
      return;
    }
  }
  throw new Error(`There are more than ${MOST_STATEMENTS} statements`);
}

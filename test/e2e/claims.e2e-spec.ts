import { Logger } from '@nestjs/common';
import { AgentExecutor, type RequestContext } from '#libs/agents';
import { type Message, statusUpdate, userMessage } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { idleClaims, takenUp } from '../support/idle-claims.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { agentAt, callAt, type InnerReplica, innerReplica } from '../support/replica.js';
import type { Fault } from '../support/statement-faults.js';
import { before, until } from '../support/until.js';

const FAULTS: readonly Fault[] = ['refused', 'unanswered'];
/** No scenario has more statements than this. */
const MOST_STATEMENTS = 40;
const MESSAGE: { message: Message } = { message: userMessage('go') };

/** Asks; then answers. */
class Asking extends AgentExecutor {
  async *execute(context: RequestContext): AsyncGenerator<TaskEvent> {
    yield statusUpdate(context, context.task ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_INPUT_REQUIRED');
  }
}

/** Never gets anywhere in the process that began, and ends where another one goes on. */
class Restarted extends AgentExecutor {
  override readonly recovery = 'restart' as const;

  async *execute(context: RequestContext): AsyncGenerator<TaskEvent> {
    if (context.recovered === 0) {
      yield statusUpdate(context, 'TASK_STATE_WORKING');
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
    } else yield statusUpdate(context, 'TASK_STATE_COMPLETED');
  }
}

class Lost extends Restarted {
  override readonly recovery = 'fail' as never;
}

/** Says what the store of this test refuses. */
class Refused extends AgentExecutor {
  async *execute(context: RequestContext): AsyncGenerator<TaskEvent> {
    await context.flush();
    yield statusUpdate(context, 'TASK_STATE_WORKING', 'refused');
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
  }
}

const ASKING = agentAt('workflows/asking', new Asking());
const RESTARTED = agentAt('workflows/restarted', new Restarted());
const LOST = agentAt('workflows/lost', new Lost());
const GONE = agentAt('workflows/gone', new Restarted());
const REFUSED = agentAt('workflows/refused', new Refused());
const AGENTS = [ASKING, RESTARTED, LOST, REFUSED];

let server: TestDatabase;
let survivor: InnerReplica;
const replicas: InnerReplica[] = [];

beforeAll(async () => {
  Logger.overrideLogger(false);
  server = await freshDatabase({ empty: true });
  survivor = await replica();
});

afterAll(async () => {
  for (const it of replicas) await it.end();
  await server.drop();
});

describe.each(FAULTS)('when a statement is %s, no claim stays that nobody executes:', (fault) => {
  it('of a follow-up Message', async () => {
    const call = callAt(ASKING.path);
    await eachStatement(survivor, fault, async (arm) => {
      const taskId = await waiting();
      arm();
      const resume = async (): Promise<unknown> => {
        const execution = await survivor.registry.resumeExecution(ASKING, taskId, MESSAGE, call);
        return execution.settled;
      };
      const failed = await resume().then(
        () => false,
        () => true,
      );
      survivor.faults.fail(0);
      await takenUp(server, survivor);
      if (failed) await before(resume());
      expect(await state(taskId)).toBe('TASK_STATE_COMPLETED');
    });
  });

  it('of a cancel', async () => {
    const cancel = (taskId: string) => survivor.registry.cancelAndWait(ASKING, taskId, callAt(ASKING.path));
    await eachStatement(survivor, fault, async (arm) => {
      const taskId = await waiting();
      arm();
      await before(cancel(taskId)).catch(() => undefined);
      survivor.faults.fail(0);
      await takenUp(server, survivor);
      expect((await before(cancel(taskId))).status.state).toBe('TASK_STATE_CANCELED');
    });
  });

  it.each([
    [RESTARTED, 'TASK_STATE_COMPLETED'],
    [LOST, 'TASK_STATE_FAILED'],
    [GONE, 'TASK_STATE_FAILED'],
  ])('of a Task that is taken over: $path', async (agent, end) => {
    await eachStatement(survivor, fault, async (arm) => {
      const owner = await innerReplica(server.url, AGENTS);
      const taskId = await working(owner, agent);
      await owner.die();
      arm();
      await survivor.recovery.sweepOnce().catch(() => undefined);
      const failed = survivor.faults.hasFailed;
      survivor.faults.fail(0);
      const ended = async (): Promise<boolean> => {
        await takenUp(server, survivor);
        return (await state(taskId)) === end;
      };
      await until(ended, { what: `${end}, after statement failed: ${failed}` });
      await owner.end();
    });
  });

  it('of a Task whose event the database refused', async () => {
    const write = survivor.store.writeBatch.bind(survivor.store);
    survivor.store.writeBatch = async (batch) => {
      if (JSON.stringify(batch).includes('"refused"')) throw Object.assign(new Error('refused'), { code: '22P05' });
      return write(batch);
    };
    try {
      await eachStatement(survivor, fault, async (arm) => {
        arm();
        const { taskId } = survivor.registry.beginExecution(REFUSED, MESSAGE, callAt(REFUSED.path));
        const over = () => !survivor.registry.has(taskId);
        await until(over, { what: 'the execution to end' });
        survivor.faults.fail(0);
        await takenUp(server, survivor);
        expect(await state(taskId)).toBe('TASK_STATE_FAILED');
      });
    } finally {
      survivor.store.writeBatch = write;
    }
  });
});

/** Does the scenario again and again, each time with the next one of its statements failing, until it has no more. */
async function eachStatement(
  owner: InnerReplica,
  fault: Fault,
  scenario: (arm: () => void) => Promise<void>,
): Promise<void> {
  for (let at = 1; at <= MOST_STATEMENTS; at += 1) {
    let failed = false;
    await scenario(() =>
      owner.faults.fail(at, fault, /\btask\b|replica/, () => {
        failed = true;
        return new Error('Connection terminated unexpectedly');
      }),
    );
    expect(await idleClaims(server, owner)).toEqual([]);
    if (!failed) {
      expect(at).toBeGreaterThan(1);
      return;
    }
  }
  throw new Error(`There are more than ${MOST_STATEMENTS} statements`);
}

async function replica(): Promise<InnerReplica> {
  const made = await innerReplica(server.url, AGENTS);
  replicas.push(made);
  return made;
}

async function waiting(): Promise<string> {
  const execution = survivor.registry.beginExecution(ASKING, MESSAGE, callAt(ASKING.path));
  await before(execution.settled);
  return execution.taskId;
}

async function working(owner: InnerReplica, agent: typeof ASKING): Promise<string> {
  const { taskId } = owner.registry.beginExecution(agent, MESSAGE, callAt(agent.path));
  await until(async () => (await state(taskId)) === 'TASK_STATE_WORKING', { what: 'the Task to be worked on' });
  return taskId;
}

async function state(taskId: string): Promise<string> {
  const [row] = await server.query<{ state: string }>('SELECT state FROM task WHERE task_id = $1', [taskId]);
  return row?.state ?? 'none';
}

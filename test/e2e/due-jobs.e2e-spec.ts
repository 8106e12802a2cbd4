import { Logger } from '@nestjs/common';
import { AgentExecutor, type RequestContext } from '#libs/agents';
import { statusUpdate, userMessage } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { agentAt, callAt, type InnerReplica, innerReplica } from '../support/replica.js';
import { until } from '../support/until.js';

const GUESTS_TASKS = 400;
/** Begun at a time, so that the journal writes them in few batches. */
const TOGETHER = 100;

/** Sleeps until a time that is over when it is asleep, and completes when it is woken. */
class Sleeper extends AgentExecutor {
  override readonly recovery = 'restart' as const;
  readonly woken: string[] = [];

  async *execute(context: RequestContext): AsyncGenerator<TaskEvent> {
    if ((await context.readTaskLog()).length === 1) {
      yield { ...statusUpdate(context, 'TASK_STATE_WORKING'), parks: new Date() };
      return;
    }
    this.woken.push(context.taskId);
    yield statusUpdate(context, 'TASK_STATE_COMPLETED');
  }
}

const sleeper = new Sleeper();
const AGENT = agentAt('workflows/sleeper', sleeper);
let server: TestDatabase;
const replicas: InnerReplica[] = [];

beforeAll(async () => {
  Logger.overrideLogger(false);
  server = await freshDatabase({ empty: true });
});

afterAll(async () => {
  for (const it of replicas) await it.end();
  await server.drop();
});

it('wakes a caller’s Task after a few of a guest whose Tasks have waited longer, however many are due', async () => {
  const parking = await replica({});
  for (let begun = 0; begun < GUESTS_TASKS; begun += TOGETHER) {
    await Promise.all(Array.from({ length: TOGETHER }, () => parked(parking, 'guest')));
  }
  const mine = await parked(parking, 'me');
  await replica({ jobs: true });
  await until(() => sleeper.woken.includes(mine), { what: 'the Task to be woken' });
  // Four slots, each of which may be at some Task of the guest whenever another caller has its turn.
  expect(sleeper.woken.indexOf(mine)).toBeLessThan(40);
  await until(() => sleeper.woken.length > GUESTS_TASKS, { what: 'the other Tasks to be woken' });
  expect(new Set(sleeper.woken).size).toBe(GUESTS_TASKS + 1);
});

async function replica(options: { jobs?: boolean }): Promise<InnerReplica> {
  const made = await innerReplica(server.url, [AGENT], undefined, options);
  replicas.push(made);
  return made;
}

/** Begins a Task of an owner. @returns its id when it sleeps */
async function parked(by: InnerReplica, owner: string): Promise<string> {
  const call = { ...callAt(AGENT.path), scope: { tenant: '', owner } };
  const { taskId, settled } = by.registry.beginExecution(AGENT, { message: userMessage('sleep') }, call);
  await settled.catch(() => undefined);
  return taskId;
}

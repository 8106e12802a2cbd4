import type { RecordedEvent } from '#libs/tasks';
import { userMessage } from '#libs/protocol';
import { allowConnections, endSessions } from '../support/database-faults.js';
import { LedExecutor } from '../support/led-executor.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { agentAt, callAt, type InnerReplica, innerReplica } from '../support/replica.js';
import { range } from '../support/sse.js';
import { before, until } from '../support/until.js';

const PATH = 'workflows/led';
const CALL = callAt(PATH);
let server: TestDatabase;
let one: InnerReplica;
let two: InnerReplica;

beforeAll(async () => {
  server = await freshDatabase({ empty: true });
  one = await innerReplica(server.url);
  two = await innerReplica(server.url);
  await until(() => one.life.peers === 1, { what: 'the replicas to know of each other' });
});

afterAll(async () => {
  await one.end();
  await two.end();
  await server.drop();
});

describe('a replica that never polls', () => {
  it('reads what another executes as it is committed', async () => {
    const { executor, taskId } = await begun();
    const reader = new Reader(two, taskId);
    for (const sequence of range(2, 12)) {
      executor.say('TASK_STATE_WORKING', String(sequence));
      await reader.reaches(sequence);
    }
    executor.say('TASK_STATE_COMPLETED');
    expect(await reader.all()).toEqual(range(1, 13));
  });

  it('reads everything once although its session is cut again and again', async () => {
    const { executor, taskId } = await begun();
    const reader = new Reader(two, taskId);
    await reader.reaches(1);
    for (const sequence of range(2, 200)) {
      executor.say('TASK_STATE_WORKING', String(sequence));
      if (sequence % 40 === 0) await endSessions(server, 'signals');
    }
    await reader.reaches(200);
    executor.say('TASK_STATE_COMPLETED');
    expect(await reader.all()).toEqual(range(1, 201));
  });

  it('reads what was committed while it could not hear, once it hears again', async () => {
    const { executor, taskId } = await begun();
    const [reader, besideTheWriter] = [new Reader(two, taskId), new Reader(one, taskId)];
    await reader.reaches(1);
    await allowConnections(server, false);
    try {
      await endSessions(server, 'signals');
      await endSessions(server, 'notify');
      for (const sequence of range(2, 20)) executor.say('TASK_STATE_WORKING', String(sequence));
      await besideTheWriter.reaches(20);
      expect(reader.sequences).toEqual([1]);
    } finally {
      await allowConnections(server, true);
    }
    await reader.reaches(20);
    executor.say('TASK_STATE_COMPLETED');
    expect(await reader.all()).toEqual(range(1, 21));
  });

  it('follows a Task that waits, and reads the turn that another replica executes', async () => {
    const { executor, agent, taskId } = await begun();
    executor.say('TASK_STATE_INPUT_REQUIRED', 'more?');
    const reader = new Reader(two, taskId);
    await reader.reaches(2);
    await one.registry.resumeExecution(agent, taskId, { message: userMessage('more') }, CALL);
    executor.say('TASK_STATE_COMPLETED');
    await executor.begun(2);
    expect(await reader.all()).toEqual(range(1, 4));
  });

  it('has what it cancels canceled where it is executed, and the result that comes late is dropped', async () => {
    const { executor, agent, taskId } = await begun();
    const { signal } = await executor.begun();
    const canceled = await before(two.registry.cancelAndWait(agent, taskId, CALL), { what: 'the cancel' });
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    expect(signal.aborted).toBe(true);
    executor.say('TASK_STATE_COMPLETED', 'too late');
    await until(() => one.registry.size === 0, { what: 'the execution to end' });
    expect(await states(two, taskId)).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_CANCELED']);
  });
});

interface Begun {
  executor: LedExecutor;
  agent: ReturnType<typeof agentAt>;
  taskId: string;
}

/** A Task that the first replica executes. */
async function begun(): Promise<Begun> {
  const executor = new LedExecutor();
  const agent = agentAt(PATH, executor);
  const { taskId, accepted } = one.registry.beginExecution(agent, { message: userMessage('go') }, CALL);
  await accepted;
  return { executor, agent, taskId };
}

async function states({ store }: InnerReplica, taskId: string): Promise<string[]> {
  const events = await store.readEvents(taskId, 0, 100);
  return events.flatMap(({ event }) => {
    if ('task' in event) return event.task.status.state;
    return 'statusUpdate' in event ? event.statusUpdate.status.state : [];
  });
}

/** Follows a Task from its beginning. */
class Reader {
  readonly sequences: number[] = [];
  private readonly done: Promise<void>;

  constructor({ feed }: InnerReplica, taskId: string) {
    this.done = this.read(feed.followTask(taskId, 0));
  }

  async reaches(sequence: number): Promise<void> {
    await until(() => this.sequences.at(-1) === sequence, { what: `event ${sequence}` });
  }

  async all(): Promise<number[]> {
    await before(this.done, { what: 'the end of the stream' });
    return this.sequences;
  }

  private async read(events: AsyncIterable<RecordedEvent>): Promise<void> {
    for await (const { sequence } of events) this.sequences.push(sequence);
  }
}

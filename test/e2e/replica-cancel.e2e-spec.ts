import { userMessage } from '#libs/protocol';
import { LedExecutor } from '../support/led-executor.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { agentAt, callAt, type InnerReplica, innerReplica, knowsSilence } from '../support/replica.js';
import { before, until } from '../support/until.js';

const LOST = new LedExecutor('fail');
const RESTARTED = new LedExecutor('restart');
const AGENTS = [ledBy('workflows/lost', LOST), ledBy('workflows/restarted', RESTARTED)] as const;
const WAITING = ['TASK_STATE_SUBMITTED', 'TASK_STATE_INPUT_REQUIRED'];

let server: TestDatabase;
let survivor: InnerReplica;
const replicas: InnerReplica[] = [];

beforeAll(async () => {
  server = await freshDatabase({ empty: true });
  survivor = await replica();
});

afterAll(async () => {
  for (const it of replicas) await it.end();
  await server.drop();
});

describe('a cancel', () => {
  it('before the first event ends the Task, and its execution writes nothing more', async () => {
    const [agent] = AGENTS;
    const executions = LOST.contexts.length;
    const { taskId } = survivor.registry.beginExecution(agent, { message: userMessage('go') }, callAt(agent.path));
    const canceled = await before(survivor.registry.cancelAndWait(agent, taskId, callAt(agent.path)));
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    await LOST.begun(executions + 1);
    LOST.say('TASK_STATE_COMPLETED', 'too late');
    await until(() => survivor.registry.size === 0, { what: 'the execution to end' });
    expect(await states(taskId)).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_CANCELED']);
  });

  it.each(AGENTS)('after the owner died ends the Task: $path', async (agent) => {
    const owner = await replica();
    const { taskId, accepted } = owner.registry.beginExecution(
      agent,
      { message: userMessage('go') },
      callAt(agent.path),
    );
    await accepted;
    await owner.die();
    const cancel = survivor.registry.cancelAndWait(agent, taskId, callAt(agent.path));
    await until(async () => (await survivor.recovery.sweepOnce()) > 0, { what: 'the Task to be taken over' });
    expect((await before(cancel)).status.state).toBe('TASK_STATE_CANCELED');
    expect(await states(taskId)).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_CANCELED']);
  });

  describe.each(AGENTS)('of a Task that waits, whose replica died when it had stored it: $path', (agent) => {
    it('is carried out by the next sweep of another one, which does not go on with the Task', async () => {
      const taskId = await waiting(agent);
      const executions = agent.executor.contexts.length;
      await survivor.store.requestCancel(taskId);
      await survivor.recovery.sweepOnce();
      await until(async () => (await states(taskId)).length > 2, { what: 'the Task to go on' });
      expect(await states(taskId)).toEqual([...WAITING, 'TASK_STATE_CANCELED']);
      expect(agent.executor.contexts).toHaveLength(executions);
    });

    it('is carried out where that replica had claimed the Task for it', async () => {
      const owner = await replica();
      const taskId = await waiting(agent);
      await owner.store.requestCancel(taskId);
      await owner.store.claimTask(taskId, owner.life.replicaId, 'claimed');
      await owner.die();
      await until(async () => (await survivor.recovery.sweepOnce()) > 0, { what: 'the Task to be taken over' });
      await until(async () => (await states(taskId)).length > 2, { what: 'the Task to go on' });
      expect(await states(taskId)).toEqual([...WAITING, 'TASK_STATE_CANCELED']);
    });

    it('is carried out before an answer is taken, which is refused', async () => {
      const taskId = await waiting(agent);
      await survivor.store.requestCancel(taskId);
      const answer = survivor.registry.resumeExecution(
        agent,
        taskId,
        { message: userMessage('yes') },
        callAt(agent.path),
      );
      await expect(before(answer)).rejects.toMatchObject({
        reason: 'UNSUPPORTED_OPERATION',
        message: 'The task has ended (TASK_STATE_CANCELED) and takes no message',
      });
      expect(await states(taskId)).toEqual([...WAITING, 'TASK_STATE_CANCELED']);
    });
  });

  it('is not undone by an owner that was taken for dead and wakes up', async () => {
    const owner = await replica();
    const executor = new LedExecutor();
    const [, { path }] = AGENTS;
    const agent = agentAt(path, executor);
    const execution = owner.registry.beginExecution(agent, { message: userMessage('go') }, callAt(path));
    await execution.accepted;
    await knowsSilence(server.query, survivor);
    const takenOver = async (): Promise<boolean> => {
      await server.query(`UPDATE replica SET heartbeat_at = now() - interval '1 minute' WHERE id = $1`, [
        owner.life.replicaId,
      ]);
      return (await survivor.recovery.sweepOnce()) > 0;
    };
    await until(takenOver, { what: 'the Task to be taken over' });
    const canceled = await before(survivor.registry.cancelAndWait(agent, execution.taskId, callAt(path)));
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    executor.say('TASK_STATE_COMPLETED', 'too late');
    await expect(execution.settled).rejects.toThrow();
    expect(await states(execution.taskId)).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_CANCELED']);
  });
});

async function replica(): Promise<InnerReplica> {
  const made = await innerReplica(server.url, AGENTS);
  replicas.push(made);
  return made;
}

function ledBy(path: string, executor: LedExecutor) {
  return { ...agentAt(path, executor), executor };
}

/** A Task that asks its caller something, and that nobody executes. */
async function waiting(agent: (typeof AGENTS)[number]): Promise<string> {
  agent.executor.say('TASK_STATE_INPUT_REQUIRED');
  const execution = survivor.registry.beginExecution(agent, { message: userMessage('go') }, callAt(agent.path));
  await before(execution.settled);
  await until(() => !survivor.registry.has(execution.taskId), { what: 'the execution to end' });
  return execution.taskId;
}

async function states(taskId: string): Promise<string[]> {
  const events = await survivor.store.readEvents(taskId, 0, 100);
  return events.flatMap(({ event }) => {
    if ('task' in event) return event.task.status.state;
    return 'statusUpdate' in event ? event.statusUpdate.status.state : [];
  });
}

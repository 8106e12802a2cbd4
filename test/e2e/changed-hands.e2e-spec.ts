import { Logger } from '@nestjs/common';
import { type AgentCatalog, ExecutionInterrupted, TaskCanceled } from '#libs/agents';
import { userMessage } from '#libs/protocol';
import { idleClaims, takenUp } from '../support/idle-claims.js';
import { LedExecutor } from '../support/led-executor.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { agentAt, callAt, catalogOf, type InnerReplica, innerReplica, knowsSilence } from '../support/replica.js';
import { before, until } from '../support/until.js';

const PATH = 'workflows/led';
const CALL = callAt(PATH);
const MESSAGE = { message: userMessage('go') };
/** Between a replica that is taken for dead and the others there are no signals. */
const LOOK_MS = 100;

/** What the survivor executes, and what any other does. */
const adopter = new LedExecutor('restart');
const AGENT = agentAt(PATH, adopter);
const FAILING = agentAt('workflows/failing', new LedExecutor('fail'));

let server: TestDatabase;
let survivor: InnerReplica;
/** Set: what looking for agents fails with. */
let outage: Error | undefined;

beforeAll(async () => {
  Logger.overrideLogger(false);
  server = await freshDatabase({ empty: true });
  survivor = await innerReplica(server.url, whereReachable(), LOOK_MS);
  await knowsSilence(server.query, survivor);
});

afterAll(async () => {
  await survivor.end();
  await server.drop();
});

describe('an owner that another replica took for dead', () => {
  it('stops its executor when a write is refused', async () => {
    await withOwner(async ({ owner, taskId, executor }) => {
      const { signal } = await executor.begun();
      await takeOver(owner);
      executor.say('TASK_STATE_WORKING', 'too late');
      await until(() => signal.aborted, { what: 'the signal of the first execution' });
      expect(signal.reason).toBeInstanceOf(ExecutionInterrupted);
      expect(owner.registry.has(taskId)).toBe(false);
    });
  });

  it('stops its executor also where that writes nothing, and no other', async () => {
    await withOwner(async ({ owner, taskId, executor }) => {
      const { signal } = await executor.begun();
      const other = owner.registry.beginExecution(agentAt('workflows/other', executor), MESSAGE, CALL);
      await other.accepted;
      const going = await executor.begun(2);
      await owner.recovery.sweepOnce();
      expect(signal.aborted).toBe(false);
      await server.query(`UPDATE task SET replica_id = 'adopter', claim_token = 'new' WHERE task_id = $1`, [taskId]);
      await owner.recovery.sweepOnce();
      expect(signal.reason).toBeInstanceOf(ExecutionInterrupted);
      expect(going.signal.aborted).toBe(false);
    });
  });

  it('is told by a proof that it has lost the Task, also where it was to cancel that', async () => {
    const patient = Object.assign(new LedExecutor(), { cancelGrace: 60_000 });
    await withOwner(async ({ owner, taskId, agent, executor }) => {
      const context = await executor.begun();
      owner.registry.cancelAndWait(agent, taskId, CALL).catch(() => undefined);
      await until(() => context.signal.aborted, { what: 'the cancel' });
      await expect(context.assertClaimHeld()).rejects.toBeInstanceOf(TaskCanceled);
      await server.query(`UPDATE task SET replica_id = 'adopter', claim_token = 'new' WHERE task_id = $1`, [taskId]);
      await expect(context.assertClaimHeld()).rejects.toBeInstanceOf(ExecutionInterrupted);
      await server.query(
        `UPDATE task SET state = 'TASK_STATE_CANCELED', replica_id = NULL, claim_token = NULL WHERE task_id = $1`,
        [taskId],
      );
    }, patient);
  });

  it('stops its executor when it takes the Task over itself', async () => {
    const executing = new LedExecutor('restart');
    await withOwner(async ({ owner, taskId, executor }) => {
      const { signal } = await executor.begun();
      await server.query(`UPDATE task SET replica_id = 'gone', claim_token = 'lost' WHERE task_id = $1`, [taskId]);
      const begun = () => executor.contexts.filter((context) => context.taskId === taskId);
      const isContinued = async (): Promise<boolean> => {
        await owner.recovery.sweepOnce();
        return begun().length === 2;
      };
      await until(isContinued, { what: 'the execution that continues' });
      expect(signal.reason).toBeInstanceOf(ExecutionInterrupted);
      expect(begun()[1]?.signal.aborted).toBe(false);
    }, executing);
  });

  it('answers a cancel with what its adopter makes of it', async () => {
    await withOwner(async ({ owner, taskId, agent }) => {
      await takeOver(owner);
      expect((await before(owner.registry.cancelAndWait(agent, taskId, CALL))).status.state).toBe(
        'TASK_STATE_CANCELED',
      );
    });
  });

  it('answers a cancel with TASK_NOT_CANCELABLE where the Task has ended meanwhile', async () => {
    await withOwner(async ({ owner, taskId, agent }) => {
      await takeOver(owner);
      adopter.say('TASK_STATE_COMPLETED');
      await until(async () => (await state(taskId)) === 'TASK_STATE_COMPLETED', { what: 'the end of the Task' });
      const cancel = before(owner.registry.cancelAndWait(agent, taskId, CALL));
      await expect(cancel).rejects.toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
    });
  });
});

describe('a Task that is taken over while its agent cannot be looked up', () => {
  it('goes on when it can be', async () => {
    await whileAgentsAreAway(async (taskId) => {
      // A survivor whose own heartbeat is late takes nothing over.
      const adopted = async (): Promise<boolean> => {
        await survivor.recovery.sweepOnce();
        return (await idleClaims(server, survivor)).length > 0;
      };
      await until(adopted, { what: 'the Task to be adopted' });
      expect(await idleClaims(server, survivor)).toEqual([taskId]);
      expect(await state(taskId)).toBe('TASK_STATE_SUBMITTED');
      outage = undefined;
      await takenUp(server, survivor);
      adopter.say('TASK_STATE_COMPLETED');
      await until(async () => (await state(taskId)) === 'TASK_STATE_COMPLETED', { what: 'the end of the Task' });
    });
  });

  it('can be canceled all the same', async () => {
    await whileAgentsAreAway(async (taskId) => {
      await survivor.recovery.sweepOnce();
      const cancel = survivor.registry.cancelAndWait(AGENT, taskId, CALL);
      await takenUp(server, survivor);
      expect((await before(cancel)).status.state).toBe('TASK_STATE_CANCELED');
    });
  });
});

it('a Message to a Task that waits, whose claimant died before it wrote anything, is taken when that is found', async () => {
  const { taskId, settled } = survivor.registry.beginExecution(AGENT, MESSAGE, CALL);
  adopter.say('TASK_STATE_INPUT_REQUIRED');
  await settled;
  await server.query(`UPDATE task SET replica_id = 'dead', claim_token = 'lost' WHERE task_id = $1`, [taskId]);
  const { readHeader: header } = survivor.store;
  const looked = new Promise<void>((resolve) => {
    survivor.store.readHeader = async (...named) => {
      resolve();
      return header.apply(survivor.store, named);
    };
  });
  const answered = survivor.registry.resumeExecution(AGENT, taskId, MESSAGE, CALL);
  answered.catch(() => undefined);
  await looked;
  let isTaken = false;
  void answered.then(() => (isTaken = true));
  const found = async (): Promise<boolean> => {
    await survivor.recovery.sweepOnce();
    return isTaken;
  };
  await until(found, { what: 'the claim to be let go' });
  const execution = await before(answered, { what: 'the Message to be taken' });
  survivor.store.readHeader = header;
  adopter.say('TASK_STATE_COMPLETED');
  await execution.settled;
  expect(await state(taskId)).toBe('TASK_STATE_COMPLETED');
});

it('a Task whose end could not be stored is ended later', async () => {
  const executor = new LedExecutor('fail');
  const { writeBatch: write } = survivor.store;
  let refusals = 2;
  survivor.store.writeBatch = async (batch) => {
    const refused = batch.some(({ events }) => events.some(({ sequence }) => sequence > 1)) && refusals-- > 0;
    if (refused) throw Object.assign(new Error('refused'), { code: '22P05' });
    return write.call(survivor.store, batch);
  };
  const { taskId, accepted } = survivor.registry.beginExecution(
    { ...FAILING, executor },
    MESSAGE,
    callAt(FAILING.path),
  );
  await accepted;
  executor.say('TASK_STATE_WORKING');
  await until(() => !survivor.registry.has(taskId), { what: 'the execution to end' });
  expect(await idleClaims(server, survivor)).toEqual([taskId]);
  await takenUp(server, survivor);
  survivor.store.writeBatch = write;
  expect(await state(taskId)).toBe('TASK_STATE_FAILED');
});

interface Owned {
  owner: InnerReplica;
  taskId: string;
  agent: typeof AGENT;
  executor: LedExecutor;
}

/** A second replica that executes a Task. */
async function withOwner(
  scenario: (owned: Owned) => Promise<void>,
  executor: LedExecutor = new LedExecutor(),
): Promise<void> {
  const agent = { ...AGENT, executor };
  const owner = await innerReplica(server.url, [agent], LOOK_MS);
  try {
    const { taskId, accepted } = owner.registry.beginExecution(agent, MESSAGE, CALL);
    await accepted;
    await scenario({ owner, taskId, agent, executor });
  } finally {
    await owner.end();
  }
}

/** Resolves when the survivor has the Task of an owner that lives. */
async function takeOver(owner: InnerReplica): Promise<void> {
  const frozen = async (): Promise<boolean> => {
    const { replicaId } = owner.life;
    await server.query(`UPDATE replica SET heartbeat_at = now() - interval '1 minute' WHERE id = $1`, [replicaId]);
    return (await survivor.recovery.sweepOnce()) > 0;
  };
  await until(frozen, { what: 'the Task to be taken over' });
}

async function whileAgentsAreAway(scenario: (taskId: string) => Promise<void>): Promise<void> {
  await withOwner(async ({ owner, taskId }) => {
    await owner.die();
    outage = new Error('Connection terminated unexpectedly');
    try {
      await scenario(taskId);
    } finally {
      outage = undefined;
    }
  });
}

function whereReachable(): AgentCatalog {
  const all = catalogOf([AGENT, FAILING]);
  const { resolveAgent: resolve } = all;
  const catalog: AgentCatalog = Object.assign(all, {
    inTenant: () => catalog,
    resolveAgent: (path: string) => (outage ? Promise.reject(outage) : resolve(path)),
  });
  return catalog;
}

async function state(taskId: string): Promise<string | undefined> {
  const [row] = await server.query<{ state: string }>('SELECT state FROM task WHERE task_id = $1', [taskId]);
  return row?.state;
}

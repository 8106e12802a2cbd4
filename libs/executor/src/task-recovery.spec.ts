import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { AgentCatalog } from '#libs/agents';
import type { ServiceAddress } from '#libs/http-server';
import type { ReplicaLife } from '#libs/postgres';
import type { Facts, Shutdown } from '#libs/service';
import { type RenewedClaims, type TaskClaim, TaskEventRefused, type TaskRecorder, type TaskStore } from '#libs/tasks';
import type { ExecutionRegistry } from './execution-registry.js';
import { BegunClaims } from './task-claims.js';
import { TaskRecovery } from './task-recovery.js';

const HOUR_MS = 3_600_000;
/** ReplicaLife methods of a test with a dead replica, except `deadReplicas`. */
const GONE = { unknownReplicas: async () => [], runSuccessors: async () => undefined, onLoss: () => undefined };
/** Methods of a TaskStore without claims and without due Tasks. */
const NOTHING = { listClaimants: async () => [], listClaims: async () => [], findOverdue: async () => [] };

let errors: jest.SpiedFunction<Logger['error']>;
let warnings: jest.SpiedFunction<Logger['warn']>;

beforeEach(() => {
  jest.useFakeTimers();
  errors = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
  warnings = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  jest.spyOn(Logger.prototype, 'debug').mockReturnValue();
});

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

it('tries a Task whose log cannot be folded less often each time, down to once an hour, and tells of it once', async () => {
  const loads = await loadsIn(3 * HOUR_MS, () => new TaskEventRefused('The first event of a task is the task itself'));
  expect(loads).toBeGreaterThan(10);
  expect(loads).toBeLessThan(20);
  expect(errors).toHaveBeenCalledTimes(1);
});

it('tries what may pass every minute, and tells of it once as well', async () => {
  const loads = await loadsIn(HOUR_MS, () => new Error('Connection terminated unexpectedly'));
  expect(loads).toBeGreaterThan(50);
  expect(loads).toBeLessThan(75);
  expect(warnings).toHaveBeenCalledTimes(1);
  expect(errors).not.toHaveBeenCalled();
});

it('lets a Task go that another process has ended between its claim and its reading', async () => {
  const released: unknown[] = [];
  const store = {
    claimTask: async () => ({
      header: { state: 'TASK_STATE_WORKING', lastSequence: 0 },
      task: { status: { state: 'TASK_STATE_COMPLETED' } },
    }),
    releaseClaim: async (claim: unknown) => released.push(claim),
  };
  await recoveryOf(store, {}).wakeTask('t');
  expect(released).toEqual([expect.objectContaining({ taskId: 't' })]);
  expect(errors).not.toHaveBeenCalled();
});

it('takes up no claim that is still being taken for a minute, whatever it looks, and does when that has failed', async () => {
  const claimed: { taskId: string; token: string }[] = [];
  const renewed: unknown[] = [];
  const taking = Promise.withResolvers<undefined>();
  const store = {
    claimTask: (taskId: string, _replicaId: string, token: string) => (claimed.push({ taskId, token }), taking.promise),
    listClaims: async () => claimed,
    renewClaims: async (claims: TaskClaim[]) => (renewed.push(...claims), { renewed: [], lost: idsOf(claims) }),
    listClaimants: async () => [],
    findOverdue: async () => [],
  };
  const recovery = recoveryOf(store, QUIET);
  const waking = recovery.wakeTask('t');
  await looks(recovery, 5);
  expect(renewed).toEqual([]);
  taking.reject(new Error('Connection terminated unexpectedly'));
  await expect(waking).rejects.toThrow('Connection terminated');
  await looks(recovery, 5);
  expect(renewed).toContainEqual(expect.objectContaining(claimed[0]!));
});

it('takes up what it claims though looking for dead replicas fails', async () => {
  const read: string[] = [];
  const store = {
    listClaims: async () => [{ taskId: 'a', token: 'token' }],
    renewClaims: async (claims: TaskClaim[]) => renewedAll(claims),
    readLog: async (taskId: string) => void read.push(taskId),
    releaseClaim: async () => undefined,
    findOverdue: async () => [],
  };
  const deadReplicas = (): Promise<string[]> =>
    Promise.reject(new Error('canceling statement due to statement timeout'));
  const recovery = recoveryOf(store, { deadReplicas });
  for (let look = 0; look < 3; look += 1) {
    await expect(recovery.sweepOnce()).rejects.toThrow('statement timeout');
    jest.advanceTimersByTime(10_000);
  }
  expect(read).toContain('a');
});

describe('the claims of this replica without an execution', () => {
  it('are taken up a chunk at a time, before the next one is renewed', async () => {
    const next = Promise.withResolvers<void>();
    const idle = new IdleClaims(1_200, async (claims) => {
      if (idle.renewals === 2) await next.promise;
      return renewedAll(claims);
    });
    const recovery = recoveryOf(idle, QUIET);
    await looks(recovery, 1);
    const sweep = recovery.sweepOnce();
    await jest.advanceTimersByTimeAsync(0);
    expect(idle.read).toHaveLength(500);
    next.resolve();
    await sweep;
    expect(idle.read).toHaveLength(1_200);
  });

  it('are taken up, though one of them is locked and gets no result', async () => {
    const idle = new IdleClaims(3, async (claims) => renewedAll(claims.filter(({ taskId }) => taskId !== 'task 0')));
    const recovery = recoveryOf(idle, QUIET);
    await looks(recovery, 2);
    expect(idle.read).toEqual(['task 1', 'task 2']);
    idle.renewal = async (claims) => renewedAll(claims);
    await looks(recovery, 1);
    expect(idle.read).toEqual(['task 1', 'task 2', 'task 0']);
  });
});

describe('overdue Tasks that cannot be woken', () => {
  it('hide no other, and do not stop the look for cancels', async () => {
    const broken = tasksOf(32);
    const overdue = new OverdueTasks([...broken, 'whole'], new TaskEventRefused('no log'));
    let cancels = 0;
    const recovery = recoveryOf(overdue, QUIET, undefined, async () => void (cancels += 1));
    await sweeps(recovery, 3);
    expect(overdue.claimed.slice(0, 32)).toEqual(broken);
    expect(overdue.claimed).toContain('whole');
    expect(cancels).toBeGreaterThan(0);
    expect(errors).toHaveBeenCalledTimes(broken.length);
  });

  it('are tried less often each time, down to once an hour', async () => {
    const overdue = new OverdueTasks(['broken'], new TaskEventRefused('no log'));
    await sweeps(recoveryOf(overdue, QUIET), (3 * HOUR_MS) / 1_000);
    expect(overdue.claimed.length).toBeGreaterThan(10);
    expect(overdue.claimed.length).toBeLessThan(20);
    expect(errors).toHaveBeenCalledTimes(1);
  });

  it('are forgotten when they are overdue no more', async () => {
    const overdue = new OverdueTasks(['broken'], new TaskEventRefused('no log'));
    const recovery = recoveryOf(overdue, QUIET);
    await sweeps(recovery, 60);
    const { ids } = overdue;
    overdue.ids = [];
    await sweeps(recovery, 120);
    overdue.ids = ids;
    await sweeps(recovery, 10);
    expect(errors).toHaveBeenCalledTimes(2);
  });
});

it.each([
  ['tells of a look that failed', false, 1],
  ['says nothing of one that its end has cut off', true, 0],
])('%s', async (_, ends, times) => {
  const look = Promise.withResolvers<string[]>();
  const store = { listClaims: async () => [], findOverdue: async () => [] };
  const recovery = recoveryOf(store, { deadReplicas: () => look.promise, onLoss: () => undefined });
  recovery.start();
  if (ends) recovery.stop();
  look.reject(new Error('Cannot use a pool after calling end on the pool'));
  await jest.advanceTimersByTimeAsync(0);
  expect(warnings).toHaveBeenCalledTimes(times);
  recovery.stop();
});

it.each([
  ['tells that a dead replica could not be succeeded', false, 1],
  ['says nothing of that where its own end has closed the sessions', true, 0],
])('%s', async (_, ends, times) => {
  const succeeding = Promise.withResolvers<void>();
  const store = { ...NOTHING, adoptTasks: async () => [] };
  const replica = { deadReplicas: async () => ['dead'], unknownReplicas: async () => [], onLoss: () => undefined };
  const recovery = recoveryOf(store, { ...replica, runSuccessors: () => succeeding.promise });
  recovery.start();
  if (ends) recovery.stop();
  succeeding.reject(new Error('Cannot use a pool after calling end on the pool'));
  await jest.advanceTimersByTimeAsync(0);
  expect(warnings).toHaveBeenCalledTimes(times);
  recovery.stop();
});

it('takes up the newest Tasks of a dead replica first, children before the parents that look for them', async () => {
  const read: string[] = [];
  const store = {
    adoptTasks: async () => ['1', '3', '2'].map((taskId) => ({ taskId, token: 't' })),
    readLog: async (taskId: string) => void read.push(taskId),
    releaseClaim: async () => undefined,
    ...NOTHING,
  };
  await recoveryOf(store, { ...GONE, deadReplicas: async () => ['dead'], forgetReplica: async () => true }).sweepOnce();
  expect(read).toEqual(['3', '2', '1']);
});

it('looks for dead replicas while an overdue Task is being woken, however long that takes', async () => {
  let looks = 0;
  const store = {
    claimTask: () => new Promise(() => undefined),
    ...NOTHING,
    findOverdue: async () => ['slow'],
  };
  const replica = { ...GONE, deadReplicas: async () => (looks++, []) };
  const recovery = recoveryOf(store, replica);
  recovery.start();
  await jest.advanceTimersByTimeAsync(5_000);
  recovery.stop();
  expect(looks).toBeGreaterThan(2);
});

it('looks again at once for the Task of a dead replica that its last commit holds, and forgets the replica after it', async () => {
  const forgotten: string[] = [];
  let adoptions = 0;
  const store = {
    ...NOTHING,
    // At the first attempt the row of the Task is locked.
    adoptTasks: async () => (adoptions++, []),
    listClaimants: async () => (adoptions < 2 ? ['dead', 'alive'] : ['alive']),
  };
  const replica = {
    ...GONE,
    deadReplicas: async () => (forgotten.length > 0 ? [] : ['dead']),
    forgetReplica: async (replicaId: string) => forgotten.push(replicaId),
  };
  const recovery = recoveryOf(store, replica);
  recovery.start();
  await jest.advanceTimersByTimeAsync(0);
  recovery.stop();
  expect({ adoptions, forgotten }).toEqual({ adoptions: 2, forgotten: ['dead'] });
});

it.each([
  ['by the replica that removed what was left', true, [['replica.left', { replicaId: 'dead', takenOver: 0 }]]],
  ['not by a replica that found it removed', false, []],
])('tells that a replica has left: %s', async (_who, removed, expected) => {
  const reported: unknown[] = [];
  const facts = { emit: (...fact: unknown[]) => reported.push(fact) } as unknown as Facts;
  let dead = ['dead'];
  const store = { ...NOTHING, adoptTasks: async () => [] };
  const replica = {
    ...GONE,
    deadReplicas: async () => dead,
    forgetReplica: async () => {
      dead = [];
      return removed;
    },
  };
  const recovery = recoveryOf(store, replica, facts);
  recovery.start();
  await jest.advanceTimersByTimeAsync(0);
  recovery.stop();
  expect(reported).toEqual(expected);
});

function idsOf(claims: readonly TaskClaim[]): string[] {
  return claims.map(({ taskId }) => taskId);
}

function renewedAll(claims: readonly TaskClaim[]): RenewedClaims {
  return { renewed: claims.map(({ taskId, token }) => ({ taskId, token: `${token}+` })), lost: [] };
}

/** Store in which this replica has claims on Tasks that are deleted before they are read. */
class IdleClaims {
  renewals = 0;
  readonly read: string[] = [];
  private claimed: TaskClaim[];

  constructor(
    count: number,
    public renewal: (claims: TaskClaim[]) => Promise<RenewedClaims>,
  ) {
    this.claimed = Array.from({ length: count }, (_, index) => ({ taskId: `task ${index}`, token: 'token' }));
  }

  async listClaims(): Promise<TaskClaim[]> {
    return this.claimed;
  }

  renewClaims(claims: TaskClaim[]): Promise<RenewedClaims> {
    this.renewals += 1;
    return this.renewal(claims);
  }

  async readLog(taskId: string): Promise<void> {
    this.read.push(taskId);
  }

  async releaseClaim({ taskId }: TaskClaim): Promise<void> {
    this.claimed = this.claimed.filter((claim) => claim.taskId !== taskId);
  }

  async listClaimants(): Promise<[]> {
    return [];
  }

  async findOverdue(): Promise<[]> {
    return [];
  }
}

/** Runs `times` sweeps. Between two sweeps, enough time passes that each one reads all claims. */
async function looks(recovery: TaskRecovery, times: number): Promise<void> {
  for (let look = 0; look < times; look += 1) {
    await recovery.sweepOnce().catch(() => undefined);
    jest.advanceTimersByTime(10_000);
  }
}

/** ReplicaLife methods of a test without any other replica. */
const QUIET = { deadReplicas: async () => [], unknownReplicas: async () => [] };

function tasksOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `broken ${index}`);
}

/** Store of overdue Tasks, the oldest first. Only the Task `whole` can be claimed; all others fail. */
class OverdueTasks {
  readonly claimed: string[] = [];

  constructor(
    public ids: string[],
    private readonly failure: Error,
  ) {}

  async findOverdue(_byMs: number, limit: number, except: readonly string[] = []): Promise<string[]> {
    return this.ids.filter((id) => !except.includes(id)).slice(0, limit);
  }

  async claimTask(taskId: string): Promise<void> {
    this.claimed.push(taskId);
    if (taskId !== 'whole') throw this.failure;
    this.ids = this.ids.filter((id) => id !== taskId);
  }

  async listClaims(): Promise<[]> {
    return [];
  }

  async listClaimants(): Promise<[]> {
    return [];
  }
}

async function sweeps(recovery: TaskRecovery, times: number): Promise<void> {
  for (let sweep = 0; sweep < times; sweep += 1) {
    await recovery.sweepOnce();
    jest.advanceTimersByTime(1_000);
  }
}

/** Returns how often this replica tries to load a claimed Task within the given time, if each attempt fails. */
async function loadsIn(milliseconds: number, failure: () => Error): Promise<number> {
  let loads = 0;
  const store = {
    listClaimants: async () => [],
    listClaims: async () => [{ taskId: 't', token: 'a' }],
    renewClaims: async (claims: TaskClaim[]) => renewedAll(claims),
    findOverdue: async () => [],
    readLog: async () => {
      loads += 1;
      throw failure();
    },
  };
  await sweeps(recoveryOf(store, QUIET), milliseconds / 1_000);
  return loads;
}

function recoveryOf(
  store: object,
  replica: object,
  facts?: Facts,
  cancelRequested = async (): Promise<void> => undefined,
): TaskRecovery {
  const registry = { begun: new BegunClaims(), has: () => false, heldClaims: () => [], cancelRequested };
  return new TaskRecovery(
    store as TaskStore,
    {} as TaskRecorder,
    registry as unknown as ExecutionRegistry,
    {} as AgentCatalog,
    { replicaId: 'r', ...replica } as unknown as ReplicaLife,
    {} as ServiceAddress,
    { registerStep: () => undefined } as unknown as Shutdown,
    undefined,
    undefined,
    undefined,
    facts,
  );
}

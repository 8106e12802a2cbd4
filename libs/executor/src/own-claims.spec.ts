import { jest } from '@jest/globals';
import type { ReplicaLife } from '#libs/postgres';
import type { RenewedClaims, TaskClaim, TaskStore } from '#libs/tasks';
import { ClaimReconciler } from './claim-reconciler.js';
import type { ExecutionRegistry } from './execution-registry.js';
import { BegunClaims } from './task-claims.js';

const LOOK_MS = 5_000;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const idsOf = (claims: readonly TaskClaim[]): string[] => claims.map(({ taskId }) => taskId);
const claimsOf = (count: number): TaskClaim[] =>
  Array.from({ length: count }, (_, index) => ({ taskId: `task ${index}`, token: 'token' }));
const renewedAll = (claims: readonly TaskClaim[]): RenewedClaims => ({
  renewed: claims.map(({ taskId, token }) => ({ taskId, token: `${token}+` })),
  lost: [],
});

/** Fake of a replica that claims Tasks. It executes only those in `executed`. */
class Claimant {
  readonly executed = new Set<string>();
  readonly renewals: TaskClaim[][] = [];
  /** Claims that were due so far, with their new tokens. */
  readonly due: TaskClaim[] = [];
  failure: Error | undefined;
  readonly claims: ClaimReconciler;

  constructor(
    public claimed: TaskClaim[],
    renew: (claims: TaskClaim[]) => RenewedClaims,
  ) {
    const store = {
      listClaims: async () => {
        if (this.failure) throw this.failure;
        return this.claimed;
      },
      renewClaims: async (claims: TaskClaim[]) => {
        this.renewals.push(claims);
        return renew(claims);
      },
    };
    const has = (taskId: string): boolean => this.executed.has(taskId);
    const registry = { begun: new BegunClaims(), has, heldClaims: () => [] } as unknown as ExecutionRegistry;
    const replica = { replicaId: 'r' } as unknown as ReplicaLife;
    this.claims = new ClaimReconciler(store as unknown as TaskStore, registry, replica, LOOK_MS);
  }

  /**
   * Compares claims with executions `times` times. Between two comparisons, enough time passes that each one reads all
   * claims. The first failure stops the loop.
   */
  async look(times: number): Promise<void> {
    for (let look = 0; look < times; look += 1) {
      jest.advanceTimersByTime(2 * LOOK_MS);
      for await (const claims of this.claims.renewDueClaims()) this.due.push(...claims);
    }
  }
}

it('renews what is due by 500 claims at once', async () => {
  const claimant = new Claimant(claimsOf(1_200), renewedAll);
  await claimant.look(2);
  expect(claimant.renewals.map(({ length }) => length)).toEqual([500, 500, 200]);
  expect(claimant.due).toHaveLength(1_200);
  expect(claimant.due[0]).toMatchObject({ taskId: 'task 0', token: 'token+', failures: 0 });
});

it('keeps the claims of the chunks that could not be renewed for the next look', async () => {
  const claimant = new Claimant(claimsOf(1_200), (claims) => {
    if (claimant.renewals.length === 2) throw new Error('Connection terminated unexpectedly');
    return renewedAll(claims);
  });
  await expect(claimant.look(2)).rejects.toThrow('Connection terminated');
  expect(claimant.due).toHaveLength(500);
  await claimant.look(1);
  expect(new Set(idsOf(claimant.due)).size).toBe(1_200);
  expect(claimant.due).toHaveLength(1_200);
});

it('finds the claim whose renewal always fails, and hides no other behind it', async () => {
  const claimant = new Claimant(claimsOf(1_200), (claims) => {
    if (idsOf(claims).includes('task 7')) throw new Error('invalid page in block 7 of relation base/1/2');
    return renewedAll(claims);
  });
  for (let look = 0; look < 30; look += 1) await claimant.look(1).catch(() => undefined);
  expect(claimant.due).toHaveLength(1_199);
  expect(idsOf(claimant.due)).not.toContain('task 7');
  expect(claimant.renewals.at(-1)).toHaveLength(1);
});

it('asks again for a claim that is locked, and not for one that is lost or executed by then', async () => {
  const claimant = new Claimant(claimsOf(3), () => ({ renewed: [], lost: ['task 1'] }));
  await claimant.look(2);
  claimant.claimed = [];
  claimant.executed.add('task 2');
  await claimant.look(2);
  expect(claimant.renewals.map(idsOf)).toEqual([['task 0', 'task 1', 'task 2'], ['task 0'], ['task 0']]);
});

it('renews the claims that are known though looking for others fails', async () => {
  const claimant = new Claimant(claimsOf(1), renewedAll);
  await claimant.look(2);
  claimant.claims.markFailed({ taskId: 'task 0', token: 'token+' }, 1);
  claimant.failure = new Error('canceling statement due to statement timeout');
  await expect(claimant.look(1)).rejects.toThrow('statement timeout');
  expect(claimant.due.at(-1)).toMatchObject({ taskId: 'task 0', token: 'token++', failures: 1 });
});

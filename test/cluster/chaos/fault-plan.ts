import { SeededRandom } from '../../support/seeded-random.js';

export type Fault =
  /** `kill -9` of a replica; a new one starts at once. */
  | { kind: 'kill' }
  /** SIGSTOP of a replica, and SIGCONT so much later. */
  | { kind: 'freeze'; seconds: number }
  /** PostgreSQL crashes, and is started again so much later. */
  | { kind: 'database'; seconds: number }
  /** PostgreSQL ends every session of a replica. */
  | { kind: 'sessions' }
  /** The balancer drops each open connection with this probability. */
  | { kind: 'cut'; probability: number }
  /** SIGTERM of a replica; a new one starts at once. */
  | { kind: 'terminate' };

/** A fault, when it happens, and to whom: `target` from 0 to 1 chooses among the replicas that are there then. */
export type PlannedFault = Fault & { atMs: number; target: number };

const FIRST_MS = 3_000;
const PAUSE_MS = [1_500, 4_500] as const;
/** How often each kind comes, in a hundred. */
const SHARES: [Fault['kind'], number][] = [
  ['kill', 34],
  ['cut', 26],
  ['freeze', 14],
  ['sessions', 10],
  ['database', 8],
  ['terminate', 8],
];

/**
 * What goes wrong, and when. The same seed, length and kinds give the same plan.
 * @throws Error where `kinds` names one that there is not
 */
export function faultPlan(seed: number, lengthMs: number, kinds: readonly string[] = []): PlannedFault[] {
  const random = new SeededRandom(seed);
  const shares = kinds.length === 0 ? SHARES : kinds.map(shareOf);
  const plan: PlannedFault[] = [];
  for (let atMs = FIRST_MS; atMs < lengthMs; atMs += random.between(...PAUSE_MS)) {
    plan.push({ ...fault(random, shares), atMs, target: random.next() });
  }
  return plan;
}

function shareOf(name: string): [Fault['kind'], number] {
  const share = SHARES.find(([kind]) => kind === name);
  if (share === undefined) throw new Error(`There is no fault "${name}"`);
  return share;
}

function fault(random: SeededRandom, shares: readonly [Fault['kind'], number][]): Fault {
  let left = random.next() * shares.reduce((sum, [, share]) => sum + share, 0);
  const kind = shares.find(([, share]) => (left -= share) < 0)?.[0] ?? 'kill';
  // Half of the frozen wake before their claims may be taken, half after.
  if (kind === 'freeze') return { kind, seconds: random.between(2, 16) };
  if (kind === 'database') return { kind, seconds: random.next() * 3 };
  if (kind === 'cut') return { kind, probability: 0.3 + random.next() * 0.7 };
  return { kind };
}

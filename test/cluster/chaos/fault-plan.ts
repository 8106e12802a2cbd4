import { SeededRandom } from '../../support/seeded-random.js';
import { FAULT_KINDS } from './faults/all-faults.js';
import type { Deed, FaultKind } from './faults/fault-kind.js';

/** Planned fault with its time. `target` (0 to 1) chooses among the replicas that exist at that time. */
export interface PlannedFault extends Deed {
  kind: FaultKind;
  atMs: number;
  target: number;
}

const FIRST_MS = 3_000;
const PAUSE_MS = [1_500, 4_500] as const;

/** Plans the faults of a trial. The same seed, length and kinds give the same plan. */
export function faultPlan(seed: number, lengthMs: number, kinds: readonly FaultKind[]): PlannedFault[] {
  const random = new SeededRandom(seed);
  const plan: PlannedFault[] = [];
  if (kinds.length === 0) return plan;
  for (let atMs = FIRST_MS; atMs < lengthMs; atMs += random.between(...PAUSE_MS)) {
    const kind = pickKind(random, kinds);
    plan.push({ kind, ...kind.draw(random), atMs, target: random.next() });
  }
  return plan;
}

/** Returns the kinds of faults with these names. @throws Error that names an unknown kind */
export function faultKinds(names: readonly string[]): FaultKind[] {
  if (names.length === 0) return [...FAULT_KINDS];
  return names.map((name) => {
    const kind = FAULT_KINDS.find((it) => it.name === name);
    if (kind === undefined) throw new Error(`There is no fault "${name}"`);
    return kind;
  });
}

function pickKind(random: SeededRandom, kinds: readonly FaultKind[]): FaultKind {
  let left = random.next() * kinds.reduce((sum, { share }) => sum + share, 0);
  const kind = kinds.find(({ share }) => (left -= share) < 0) ?? kinds[0];
  if (kind === undefined) throw new Error('There is no kind of fault to choose from');
  return kind;
}

import type { A2AError } from '#libs/protocol';
import { Metrics } from '#libs/service';
import { MOST_AT_A_TIME, MOST_IN_PROCESS, MOST_OF_TENANT } from './generation-limits.js';
import { GenerationSlots, type SlotOwner } from './generation-slots.js';

let slots: GenerationSlots;
let metrics: Metrics;

beforeEach(() => {
  metrics = new Metrics();
  slots = new GenerationSlots(metrics);
});

/** Enters for as many callers, each with one request. @returns what gives each slot back */
function fill(count: number, tenantOf: (index: number) => string): (() => void)[] {
  return Array.from({ length: count }, (_, index) =>
    slots.enter({ caller: `caller-${index}`, tenant: tenantOf(index) }),
  );
}

function refusal(owner: SlotOwner): Pick<A2AError, 'status' | 'detailReason'> {
  try {
    slots.enter(owner);
  } catch (error) {
    return error as A2AError;
  }
  throw new Error('was let in');
}

describe('the slots of generations', () => {
  it('refuse a caller at its own limit with 429, and let others in', () => {
    const caller = { caller: 'ann', tenant: 'acme' };
    const leave = Array.from({ length: MOST_AT_A_TIME }, () => slots.enter(caller));
    expect(refusal(caller)).toMatchObject({ status: 429, detailReason: 'RATE_LIMITED' });
    slots.enter({ caller: 'bob', tenant: 'acme' });
    leave[0]?.();
    // A second call gives nothing back.
    leave[0]?.();
    slots.enter(caller);
    expect(refusal(caller)).toMatchObject({ status: 429 });
  });

  it('refuse all callers of one tenant with 429 before they have all slots of the process', () => {
    fill(MOST_OF_TENANT, () => 'acme');
    expect(refusal({ caller: 'new', tenant: 'acme' })).toMatchObject({ status: 429 });
    slots.enter({ caller: 'new', tenant: 'other' });
  });

  it('refuse any caller with 503 at the limit of the process, whether there are tenants or none', () => {
    const leave = fill(MOST_IN_PROCESS, (index) => (index % 2 === 0 ? '' : `tenant-${index}`));
    for (const tenant of ['', 'new'])
      expect(refusal({ caller: 'new', tenant })).toMatchObject({ status: 503, detailReason: 'OVERLOADED' });
    leave[0]?.();
    slots.enter({ caller: 'new', tenant: '' });
  });

  it('tell how many are taken, and whose limits refused how many', async () => {
    const leave = fill(MOST_IN_PROCESS, () => '');
    refusal({ caller: 'new', tenant: '' });
    for (const it of leave.slice(1)) it();
    const text = await metrics.read();
    expect(text).toMatch(/^parley_generations 1$/m);
    expect(text).toMatch(/^parley_generations_refused_total\{whose="service"\} 1$/m);
  });
});

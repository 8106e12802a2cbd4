import type { A2AError } from '#libs/protocol';
import { Metrics } from '#libs/service';
import { CallerSlots, type SlotOwner } from './caller-limits.js';

const most = { caller: 2, tenant: 4, service: 6 };
let slots: CallerSlots;
let metrics: Metrics;

beforeEach(() => {
  metrics = new Metrics();
  slots = new CallerSlots(metrics, {
    most,
    refusals: { caller: 'Two of yours are under way', tenant: 'Your tenant has four', service: 'There are too many' },
    limit: 'tries',
    retryAfterSeconds: 5,
    metrics: {
      taken: { name: 'parley_tries', help: 'Tries at the moment' },
      refused: { name: 'parley_tries_refused_total', help: 'Tries refused' },
    },
  });
});

/** Takes one slot for each of `count` different callers. @returns the functions that free the slots */
function fill(count: number, tenantOf: (index: number) => string): (() => void)[] {
  return Array.from({ length: count }, (_, index) =>
    slots.takeSlot({ caller: `caller-${index}`, tenant: tenantOf(index) }),
  );
}

function refusal(owner: SlotOwner): A2AError {
  try {
    slots.takeSlot(owner);
  } catch (error) {
    return error as A2AError;
  }
  throw new Error('was let in');
}

describe('the slots of callers', () => {
  it('refuse a caller at its own limit with 429, and let others in', () => {
    const caller = { caller: 'ann', tenant: 'acme' };
    const leave = Array.from({ length: most.caller }, () => slots.takeSlot(caller));
    expect(refusal(caller)).toMatchObject({ status: 429, detailReason: 'RATE_LIMITED' });
    slots.takeSlot({ caller: 'bob', tenant: 'acme' });
    leave[0]?.();
    // A second call gives nothing back.
    leave[0]?.();
    slots.takeSlot(caller);
    expect(refusal(caller)).toMatchObject({ status: 429 });
  });

  it('refuse all callers of one tenant with 429 before they have all slots of the process', () => {
    fill(most.tenant, () => 'acme');
    expect(refusal({ caller: 'new', tenant: 'acme' })).toMatchObject({ status: 429 });
    slots.takeSlot({ caller: 'new', tenant: 'other' });
  });

  it('refuse any caller with 503 at the limit of the process, whether there are tenants or none', () => {
    const leave = fill(most.service, (index) => (index % 2 === 0 ? '' : `tenant-${index}`));
    for (const tenant of ['', 'new'])
      expect(refusal({ caller: 'new', tenant })).toMatchObject({ status: 503, detailReason: 'OVERLOADED' });
    leave[0]?.();
    slots.takeSlot({ caller: 'new', tenant: '' });
  });

  it('say in the words of their rules what is under way, and when to come back', () => {
    fill(1, () => '');
    for (let taken = 0; taken < most.caller; taken += 1) slots.takeSlot({ caller: 'ann', tenant: '' });
    const { message, metadata } = refusal({ caller: 'ann', tenant: '' });
    expect(message).toBe('Two of yours are under way; try again later');
    expect(metadata).toEqual({ limit: 'tries', retryAfterSeconds: '5' });
  });

  it('tell how many are taken, and whose limits refused how many', async () => {
    const leave = fill(most.service, () => '');
    refusal({ caller: 'new', tenant: '' });
    for (const it of leave.slice(1)) it();
    const text = await metrics.readExposition();
    expect(text).toMatch(/^parley_tries 1$/m);
    expect(text).toMatch(/^parley_tries_refused_total\{whose="service"\} 1$/m);
  });
});

import fc from 'fast-check';
import type { A2AError } from '#libs/protocol';
import { ANY_CHARACTER } from '../../../test/support/any-character.js';
import { CallerLimits, limitName, retryAfter } from './caller-limits.js';

let now = 0;
let counted: object[] = [];
const metrics = { counter: () => ({ inc: (labels: object) => counted.push(labels) }) } as never;

beforeEach(() => {
  now = 0;
  counted = [];
});

function limits(config: object): CallerLimits {
  return new CallerLimits({ limits: config }, metrics, () => now);
}

function refusal(call: () => unknown): A2AError {
  try {
    call();
  } catch (error) {
    return error as A2AError;
  }
  throw new Error('It was let in');
}

describe('CallerLimits', () => {
  it('refuses what comes too fast, says when to come back, and counts it', () => {
    const it = limits({ rate: { requests: 2, perMs: 10_000 } });
    it.enterRequest('ann')();
    it.enterRequest('ann')();
    const error = refusal(() => it.enterRequest('ann'));
    expect([error.reason, error.status, error.grpc]).toEqual(['RATE_LIMITED', 429, 'RESOURCE_EXHAUSTED']);
    expect(retryAfter(error)).toBe('5');
    it.enterRequest('eve')();
    now = 5_000;
    it.enterRequest('ann')();
    expect(counted).toEqual([{ reason: 'rate' }]);
  });

  it('refuses what is too much at once, until something is answered', () => {
    const it = limits({ concurrency: 2 });
    const first = it.enterRequest('ann');
    it.enterRequest('ann');
    expect(refusal(() => it.enterRequest('ann')).metadata).toMatchObject({ limit: 'concurrency' });
    it.enterRequest('eve');
    first();
    it.enterRequest('ann');
    expect(refusal(() => it.enterRequest('ann')).status).toBe(429);
  });

  it('takes no token for what it refuses for another reason', () => {
    const it = limits({ rate: { requests: 2, perMs: 10_000 }, concurrency: 1 });
    const first = it.enterRequest('ann');
    refusal(() => it.enterRequest('ann'));
    first();
    it.enterRequest('ann');
  });

  it('counts streams by themselves', () => {
    const it = limits({ streams: 1 });
    const first = it.enterStream('ann');
    expect(refusal(() => it.enterStream('ann')).metadata).toMatchObject({ limit: 'streams' });
    it.enterRequest('ann');
    first();
    it.enterStream('ann');
  });

  it('remembers who uses something, however many there are', () => {
    const it = limits({ concurrency: 1, rate: { requests: 1, perMs: 1 } });
    it.enterRequest('ann');
    for (let index = 0; index < 25_000; index++) {
      now += 1;
      it.enterRequest(`caller ${index}`)();
    }
    expect(refusal(() => it.enterRequest('ann')).metadata).toMatchObject({ limit: 'concurrency' });
    expect((it as unknown as { usages: Map<string, unknown> }).usages.size).toBeLessThanOrEqual(10_001);
  });

  it('tells callers apart by tenant and name, and without a name by their address', () => {
    const names = [
      limitName({ tenant: 'a', owner: 'ann' }, '10.0.0.1'),
      limitName({ tenant: 'b', owner: 'ann' }, '10.0.0.1'),
      limitName({ tenant: '', owner: '' }, '10.0.0.1'),
      limitName({ tenant: '', owner: '' }, '10.0.0.2'),
    ];
    expect(new Set(names).size).toBe(4);
    expect(limitName({ tenant: 'a', owner: 'ann' }, '10.0.0.9')).toBe(names[0]);
  });

  it('whatever is in the names', () => {
    const name = fc.oneof(fc.string({ unit: ANY_CHARACTER }), fc.stringMatching(/^[a\n:@0-9]{0,6}$/));
    const caller = fc.record({ tenant: name, owner: name });
    fc.assert(
      fc.property(caller, caller, (one, two) => {
        const same = one.owner === two.owner && (one.owner === '' || one.tenant === two.tenant);
        expect(limitName(one, '::1') === limitName(two, '::1')).toBe(same);
      }),
      {
        numRuns: 2_000,
        examples: [
          [
            { tenant: 'a', owner: 'b\nc' },
            { tenant: 'a\nb', owner: 'c' },
          ],
        ],
      },
    );
  });
});

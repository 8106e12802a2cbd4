import { randomBytes } from 'node:crypto';
import type { SamplerName } from '#libs/service';
import { samplerOf } from './sampler.js';

const [LOW, HIGH] = ['0'.repeat(31) + '1', 'f'.repeat(32)];
const parent = (sampled: boolean) => ({ traceId: LOW, spanId: '1'.repeat(16), sampled });

describe('samplerOf', () => {
  it.each<[SamplerName, [root: boolean, unsampled: boolean, sampled: boolean]]>([
    ['always_on', [true, true, true]],
    ['always_off', [false, false, false]],
    ['traceidratio', [false, false, false]],
    ['parentbased_always_on', [true, false, true]],
    ['parentbased_always_off', [false, false, true]],
    ['parentbased_traceidratio', [false, false, true]],
  ])('%s', (sampler, expected) => {
    const sampled = samplerOf({ sampler, ratio: 0.5 });
    expect([sampled(LOW, undefined), sampled(LOW, parent(false)), sampled(LOW, parent(true))]).toEqual(expected);
  });

  it('takes the traces with the highest random bits', () => {
    const tenth = samplerOf({ sampler: 'traceidratio', ratio: 0.1 });
    expect([tenth(HIGH, undefined), tenth(`${'f'.repeat(18)}e7${'0'.repeat(12)}`, undefined)]).toEqual([true, true]);
    expect(tenth(`${'f'.repeat(18)}e5${'0'.repeat(12)}`, undefined)).toBe(false);
    const ids = Array.from({ length: 20_000 }, () => randomBytes(16).toString('hex'));
    const taken = ids.filter((id) => tenth(id, undefined)).length;
    expect(taken).toBeGreaterThan(1700);
    expect(taken).toBeLessThan(2300);
  });

  it('takes all or none at the ends', () => {
    for (const id of [LOW, HIGH]) {
      expect(samplerOf({ sampler: 'traceidratio', ratio: 1 })(id, undefined)).toBe(true);
      expect(samplerOf({ sampler: 'traceidratio', ratio: 0 })(id, undefined)).toBe(false);
    }
  });
});

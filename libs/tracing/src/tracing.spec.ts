import { randomUUID } from 'node:crypto';
import { ownTraceId, type SamplerName } from '#libs/service';
import { samplerOf } from './tracing.js';

const uuid = (random: string): string => `01935c7b-8f2a-7c3d-9e${random.slice(0, 2)}-${random.slice(2)}`;
const [LOW, HIGH] = [uuid('0'.repeat(14)), uuid('f'.repeat(14))];
const parent = (sampled: boolean, traceId = ownTraceId(LOW)) => ({ traceId, spanId: '1'.repeat(16), sampled });

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
    expect([tenth(HIGH, undefined), tenth(uuid(`e7${'0'.repeat(12)}`), undefined)]).toEqual([true, true]);
    expect(tenth(uuid(`e5${'f'.repeat(12)}`), undefined)).toBe(false);
    const ids = Array.from({ length: 20_000 }, () => randomUUID());
    const taken = ids.filter((id) => tenth(id, undefined)).length;
    expect(taken).toBeGreaterThan(1700);
    expect(taken).toBeLessThan(2300);
  });

  it('judges a Task by the trace that it belongs to, whatever the form of its id', () => {
    const half = samplerOf({ sampler: 'traceidratio', ratio: 0.5 });
    const ids = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? randomUUID() : `task-${randomUUID()}`));
    const byTrace = ids.map((id) => half(LOW, parent(false, ownTraceId(id))));
    expect(ids.map((id) => half(id, undefined))).toEqual(byTrace);
    expect(new Set(byTrace).size).toBe(2);
  });

  it('takes all or none at the ends', () => {
    for (const id of [LOW, HIGH]) {
      expect(samplerOf({ sampler: 'traceidratio', ratio: 1 })(id, undefined)).toBe(true);
      expect(samplerOf({ sampler: 'traceidratio', ratio: 0 })(id, undefined)).toBe(false);
    }
  });
});

import fc from 'fast-check';
import { Heap } from './timers.js';

const changes = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 40 })), { maxLength: 80, size: 'max' });

describe('Heap', () => {
  test('has what was added and not deleted, in order', () => {
    fc.assert(
      fc.property(changes, fc.nat(10), (all, most) => {
        const heap = new Heap<number>((one, other) => one < other);
        const expected = new Set<number>();
        for (const [isAdded, value] of all) {
          if (isAdded) heap.add(value);
          else heap.delete(value);
          if (isAdded) expected.add(value);
          else expected.delete(value);
          const sorted = [...expected].toSorted((a, b) => a - b);
          expect([heap.first, heap.size]).toEqual([sorted[0], sorted.length]);
          expect([...heap.iterateInOrder().take(most)]).toEqual(sorted.slice(0, most));
          expect([...heap.iterateInOrder((it) => it < 20)]).toEqual(sorted.filter((it) => it < 20));
        }
      }),
    );
  });
});

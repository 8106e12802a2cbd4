import { ShortLivedMap, ShortLivedSet } from './short-lived-map.js';

describe('PassingMap', () => {
  it('keeps what was set last, whatever the key is, until it is deleted', () => {
    const map = new ShortLivedMap<{ n: number }>();
    for (const key of ['a', '__proto__', '7', 'constructor']) map.set(key, { n: key.length });
    map.set('a', { n: 5 });
    map.delete('7');
    map.delete('7');
    expect(map.size).toBe(3);
    expect(map.keys().toSorted()).toEqual(['__proto__', 'a', 'constructor']);
    expect(map.values().toSorted((a, b) => a.n - b.n)).toEqual([{ n: 5 }, { n: 9 }, { n: 11 }]);
    expect([map.get('a'), map.get('7'), map.has('toString')]).toEqual([{ n: 5 }, undefined, false]);
  });

  it('tells apart what falls together, and loses nothing when one of it leaves', () => {
    const keys = Array.from({ length: 3000 }, (_, index) => `${index}-00000000`);
    const map = new ShortLivedMap<number>();
    for (const [index, key] of keys.entries()) map.set(key, index);
    for (const key of keys.filter((_, index) => index % 3 === 0)) map.delete(key);
    const left = keys.flatMap((key, index) => (index % 3 === 0 ? [] : [[key, index] as const]));
    expect(keys.map((key) => map.get(key))).toEqual(keys.map((_, index) => (index % 3 === 0 ? undefined : index)));
    expect([map.size, map.keys().toSorted()]).toEqual([left.length, left.map(([key]) => key).toSorted()]);
  });
});

describe('PassingSet', () => {
  it('has each thing until it leaves', () => {
    const set = new ShortLivedSet<string>();
    const [a, b, c] = ['a', 'b', 'c'].map((it) => set.add(it));
    a!.leaveSet();
    a!.leaveSet();
    expect(values(set)).toEqual(['b', 'c']);
    c!.leaveSet();
    expect([values(set), a!.isThere, b!.isThere]).toEqual([['b'], false, true]);
  });

  it('may be changed while it is gone through', () => {
    const set = new ShortLivedSet<number>();
    for (const it of [1, 2, 3]) set.add(it);
    const seen: number[] = [];
    for (const passing of set) {
      seen.push(passing.value);
      passing.leaveSet();
    }
    expect([seen, values(set)]).toEqual([[1, 2, 3], []]);
  });
});

function values<T>(set: ShortLivedSet<T>): T[] {
  return [...set].map(({ value }) => value).toSorted();
}

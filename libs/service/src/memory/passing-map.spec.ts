import { PassingMap, PassingSet } from './passing-map.js';

describe('PassingMap', () => {
  it('keeps what was set last, whatever the key is, until it is deleted', () => {
    const map = new PassingMap<{ n: number }>();
    for (const key of ['a', '__proto__', '7', 'constructor']) map.set(key, { n: key.length });
    map.set('a', { n: 5 });
    map.delete('7');
    map.delete('7');
    expect(map.size).toBe(3);
    expect(map.keys()).toEqual(['a', '__proto__', 'constructor']);
    expect(map.values()).toEqual([{ n: 5 }, { n: 9 }, { n: 11 }]);
    expect([map.get('a'), map.get('7'), map.has('toString')]).toEqual([{ n: 5 }, undefined, false]);
  });
});

describe('PassingSet', () => {
  it('has each thing until it leaves', () => {
    const set = new PassingSet<string>();
    const [a, b, c] = ['a', 'b', 'c'].map((it) => set.add(it));
    a!.leave();
    a!.leave();
    expect(values(set)).toEqual(['b', 'c']);
    c!.leave();
    expect([values(set), a!.isThere, b!.isThere]).toEqual([['b'], false, true]);
  });

  it('may be changed while it is gone through', () => {
    const set = new PassingSet<number>();
    for (const it of [1, 2, 3]) set.add(it);
    const seen: number[] = [];
    for (const passing of set) {
      seen.push(passing.value);
      passing.leave();
    }
    expect([seen, values(set)]).toEqual([[1, 2, 3], []]);
  });
});

function values<T>(set: PassingSet<T>): T[] {
  return [...set].map(({ value }) => value).toSorted();
}

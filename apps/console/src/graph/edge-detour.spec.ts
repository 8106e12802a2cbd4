import { findDetours } from './edge-detour.js';

const at = (x: number, y = 0) => ({ x, y });
const LONG = [{ from: 'a', to: 'c' }];

describe('findDetours', () => {
  it('leads an edge around a node between its ends, and no other edge', () => {
    const places = new Map([
      ['a', at(0)],
      ['b', at(288)],
      ['c', at(576)],
    ]);
    const edges = [{ from: 'a', to: 'b' }, { from: 'b', to: 'c' }, ...LONG];
    expect(findDetours(edges, places).map((aside) => aside === 0)).toEqual([true, true, false]);
    expect(findDetours(LONG, places.set('b', at(288, 100)))).toEqual([0]);
  });

  it('takes the free side, and the direct line if there is none', () => {
    const between = (...tops: number[]) =>
      new Map([['a', at(0)], ['c', at(576)], ...tops.map((top, index) => [`b${index}`, at(288, top)] as const)]);
    expect(findDetours(LONG, between(0, 66))[0]).toBeLessThan(0);
    expect(findDetours(LONG, between(...Array.from({ length: 9 }, (_, index) => index * 60 - 240)))).toEqual([0]);
  });

  it('leaves edges of loops and of large graphs alone', () => {
    const places = new Map([
      ['a', at(0)],
      ['b', at(288)],
      ['c', at(576)],
    ]);
    expect(findDetours([{ from: 'a', to: 'c', loop: { max_iterations: 2 } }], places)).toEqual([0]);
    for (let index = 0; index < 200; index += 1) places.set(`n${index}`, at(0, 1_000));
    expect(findDetours(LONG, places)).toEqual([0]);
  });
});

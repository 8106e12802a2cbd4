import { StartTurns } from './start-turns.js';

describe('StartTurns', () => {
  it('gives a tenant eight turns, all tenants sixteen, and a turn that was given back again', () => {
    const turns = new StartTurns();
    const taken = ['a', 'b'].flatMap((tenant) => Array.from({ length: 9 }, () => turns.takeTurn(tenant)));
    expect(taken.map((turn) => turn !== undefined)).toEqual([...eight(), false, ...eight(), false]);
    expect(turns.takeTurn('c')).toBeUndefined();
    taken[0]!();
    const again = turns.takeTurn('c');
    expect(again).toBeDefined();
    expect(turns.takeTurn('a')).toBeUndefined();
    again!();
    expect(turns.takeTurn('a')).toBeDefined();
  });
});

function eight(): boolean[] {
  return Array.from({ length: 8 }, () => true);
}

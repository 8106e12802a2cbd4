import { barOf, listNote } from './list-bar.js';

const list = { items: Array.from({ length: 10 }), counts: { completed: 3, failed: 1, running: 2, pending: 0 } };

describe('a list on a card', () => {
  it('has a part for each status, and one for what was not reached', () => {
    expect(barOf(list, 'running').map(({ status, count }) => [status, count])).toEqual([
      ['completed', 3],
      ['failed', 1],
      ['running', 2],
      ['pending', 4],
    ]);
    expect(barOf(list, 'failed').at(-2)).toEqual({ status: 'skipped', count: 4 });
  });

  it('says how far it is', () => expect(listNote(list)).toBe('4 of 10'));
});

import { KeyTurns } from './key-turns.js';

describe('KeyTurns', () => {
  it('runs the work of a key in turn, also after a failure, and that of other keys beside it', async () => {
    const turns = new KeyTurns();
    const done: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = turns.runInTurn('a', () => gate.promise);
    const second = turns.runInTurn('a', async () => done.push('a'));
    await turns.runInTurn('b', async () => done.push('b'));
    expect(done).toEqual(['b']);
    gate.reject(new Error('failed'));
    await expect(first).rejects.toThrow('failed');
    await second;
    expect(done).toEqual(['b', 'a']);
  });
});

import { once } from 'node:events';
import { setImmediate as nextImmediate } from 'node:timers/promises';
import { RequestBatcher } from './a2a-routes.js';

describe('Turns', () => {
  it('come at once for all that asked, in their order, and each step of theirs before the next', async () => {
    const turns = new RequestBatcher();
    const seen: string[] = [];
    for (const name of ['a', 'b']) {
      turns.schedule(() => {
        seen.push(`${name}1`);
        void Promise.resolve().then(() => seen.push(`${name}2`));
      });
    }
    expect(seen).toEqual([]);
    await nextImmediate();
    expect(seen).toEqual(['a1', 'b1', 'a2', 'b2']);
  });

  it('come again for who asks meanwhile', async () => {
    const turns = new RequestBatcher();
    const seen: string[] = [];
    const last = new EventTarget();
    const ended = once(last, 'end');
    turns.schedule(() => {
      turns.schedule(() => {
        seen.push('second');
        last.dispatchEvent(new Event('end'));
      });
      seen.push('first');
    });
    await ended;
    expect(seen).toEqual(['first', 'second']);
  });

  it('come for the others where one of them throws', () => {
    const due: (() => void)[] = [];
    const turns = new RequestBatcher((act) => due.push(act));
    const seen: string[] = [];
    turns.schedule(() => seen.push('before'));
    turns.schedule(() => {
      throw new Error('of one');
    });
    turns.schedule(() => seen.push('after'));
    expect(() => due.shift()?.()).toThrow('of one');
    due.shift()?.();
    expect([seen, due]).toEqual([['before', 'after'], []]);
  });
});

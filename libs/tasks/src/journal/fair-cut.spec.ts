import { fairCut } from './fair-cut.js';

/** Parses texts to sources of events. A text has the form `account:mark/bytes mark/bytes`. */
function sourcesOf(...texts: string[]) {
  return texts.map((text) => {
    const [account = '', events = ''] = text.split(':');
    const waitingEvents = events.split(' ').map((event) => {
      const [mark = 0, bytes = 0] = event.split('/').map(Number);
      return { mark, bytes };
    });
    return { account, waitingEvents };
  });
}

const cut = (limit: number, ...texts: string[]) => {
  const { upTo, rest } = fairCut(sourcesOf(...texts), limit);
  return { ...Object.fromEntries(upTo), rest };
};

describe('the cut of a batch that is full', () => {
  it('takes what was recorded first of a single caller, over all its Tasks', () => {
    expect(cut(100, 'a:1/40 3/40', 'a:2/40 4/40')).toEqual({ a: 2, rest: 80 });
  });

  it('gives each caller the same share, and what a small one leaves to the others', () => {
    expect(cut(100, 'a:1/30 2/30 3/30 4/30', 'b:5/10', 'c:6/30 7/30 8/30')).toEqual({ a: 1, b: 5, c: 6, rest: 150 });
  });

  it('takes the oldest event of all, whatever its size', () => {
    expect(cut(100, 'a:5/900 6/1', 'b:7/40 8/60')).toEqual({ a: 5, b: 7, rest: 61 });
  });

  it('skips no event of a caller that is too large for its share', () => {
    expect(cut(100, 'a:1/10 2/60 3/10', 'b:4/60 5/10')).toEqual({ a: 1, b: 0, rest: 140 });
  });

  it('comes to everything in the end, in the order of each caller', () => {
    const events = Array.from({ length: 60 }, (_, index) => ({ mark: index + 1, bytes: ((index * 37) % 90) + 1 }));
    const accounts = ['a', 'b', 'c'];
    let waiting = accounts.map((account, at) => ({
      account,
      waitingEvents: events.filter(({ mark }) => mark % 3 === at),
    }));
    let batches = 0;
    for (let rest = 1; rest > 0; batches += 1) {
      const taken = fairCut(waiting, 100);
      const left = waiting.map(({ account, waitingEvents }) => ({
        account,
        waitingEvents: waitingEvents.filter(({ mark }) => mark > taken.upTo.get(account)!),
      }));
      rest = left.flatMap(({ waitingEvents }) => waitingEvents).reduce((sum, { bytes }) => sum + bytes, 0);
      expect(rest).toBe(taken.rest);
      waiting = left.filter(({ waitingEvents }) => waitingEvents.length > 0);
    }
    expect(batches).toBeLessThan(60);
  });

  it('takes nothing where nothing waits', () => {
    expect(fairCut([], 100)).toEqual({ upTo: new Map(), rest: 0 });
  });
});

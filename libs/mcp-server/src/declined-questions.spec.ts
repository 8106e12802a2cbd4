import type { ReplicaSignals, SignalHandler } from '#libs/postgres';
import { DeclinedQuestions } from './declined-questions.js';

/** Fake of the signals between replicas: each signal reaches every other replica that watches its key. */
class FakeWire {
  private readonly replicas: { handler: SignalHandler; keys: string[] }[] = [];

  joinReplica(): ReplicaSignals {
    const keys: string[] = [];
    const own: { handler?: SignalHandler } = {};
    return {
      sendSignal: (_topic, key) => {
        for (const { handler, keys: watched } of this.replicas)
          if (handler !== own.handler && watched.includes(key)) handler.wakeFor(key);
      },
      subscribeTopic: (_topic, handler) => {
        own.handler = handler;
        this.replicas.push({ handler, keys });
        return {
          watchKey: (key) => void keys.push(key),
          unwatchKey: (key) => void keys.splice(keys.indexOf(key), 1),
        };
      },
    };
  }

  get watched(): string[] {
    return this.replicas.flatMap(({ keys }) => keys);
  }
}

describe('DeclinedQuestions', () => {
  const wire = new FakeWire();
  const [asking, other] = [new DeclinedQuestions(wire.joinReplica()), new DeclinedQuestions(wire.joinReplica())];

  it.each([
    ['this replica', asking],
    ['another replica', other],
  ])('end the call that asked, whose client declines at %s', (_where, receiving) => {
    const declined: string[] = [];
    using _first = asking.watchQuestion('parley:t:a', () => declined.push('a'));
    using _second = asking.watchQuestion('parley:t:b', () => declined.push('b'));
    receiving.reportDeclined('parley:t:a');
    receiving.reportDeclined('parley:t:c');
    expect(declined).toEqual(['a']);
  });

  it('watch a question as long as its call lasts', () => {
    const declined: string[] = [];
    const watches = ['first', 'second'].map((it) => asking.watchQuestion('parley:t:a', () => declined.push(it)));
    expect(wire.watched).toEqual(['parley:t:a', 'parley:t:a']);
    watches[0]![Symbol.dispose]();
    other.reportDeclined('parley:t:a');
    watches[1]![Symbol.dispose]();
    other.reportDeclined('parley:t:a');
    expect([declined, wire.watched]).toEqual([['second'], []]);
  });

  it('end the calls of this replica where there is no other', () => {
    const alone = new DeclinedQuestions();
    const declined: string[] = [];
    using _watch = alone.watchQuestion('parley:t:a', () => declined.push('a'));
    alone.reportDeclined('parley:t:a');
    expect(declined).toEqual(['a']);
  });
});

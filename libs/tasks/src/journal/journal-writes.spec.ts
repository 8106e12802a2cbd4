import type { PoolClient } from 'pg';
import { type Database, StatementNotSent } from '#libs/postgres';
import { JournalSession } from './journal-writes.js';

/** Creates a fake database with a pool of one session, and records the statements of each session. */
function fakeDatabase() {
  const sessions: { sent: string[]; destroyed: boolean }[] = [];
  const connect = async () => {
    const session = { sent: [] as string[], destroyed: false };
    sessions.push(session);
    return {
      query: async () => ({ rows: [{ position: '0' }] }),
      send: (text: string) => session.sent.push(text),
      release: (destroy: boolean) => (session.destroyed = destroy),
    };
  };
  const database = { tunedPool: () => ({ connect }) } as unknown as Database;
  return { sessions, journal: new JournalSession(database, 'journal') };
}

const send = (client: PoolClient, text: string): void => (client as unknown as { send(text: string): void }).send(text);

/**
 * Returns a function that sends a text in place of a batch's statement.
 * @param answer resolves with the answer of the database
 */
const batch = (text: string, answer: Promise<string>, prepared: string[] = []) => {
  return (position: string) => {
    prepared.push(`${text} at ${position}`);
    return (client: PoolClient) => (send(client, text), answer);
  };
};

it('sends a batch once the one before it is written, and builds it meanwhile', async () => {
  const { sessions, journal } = fakeDatabase();
  const first = Promise.withResolvers<string>();
  const prepared: string[] = [];
  const answers = [
    journal.commitStatement(batch('one', first.promise, prepared)),
    journal.commitStatement(batch('two', Promise.resolve('second'), prepared)),
  ];
  await new Promise(setImmediate);
  expect({ prepared, sent: sessions[0]?.sent }).toEqual({ prepared: ['one at 1', 'two at 2'], sent: ['one'] });
  first.resolve('first');
  expect(await Promise.all(answers)).toEqual(['first', 'second']);
  expect(sessions).toEqual([{ sent: ['one', 'two'], destroyed: false }]);
});

it('reads behind the batches that came before, written or not', async () => {
  const { sessions, journal } = fakeDatabase();
  const ends = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const writing = Promise.allSettled(
    ends.map(({ promise }, index) => journal.commitStatement(batch(`batch ${index}`, promise))),
  );
  const read = journal.runStatement(async (client) => send(client, 'read'));
  await new Promise(setImmediate);
  expect(sessions[0]?.sent).toEqual(['batch 0']);
  ends[0]!.resolve('written');
  await new Promise(setImmediate);
  expect(sessions[0]?.sent).toEqual(['batch 0', 'batch 1']);
  ends[1]!.reject(new Error('deadlock detected'));
  await read;
  expect(sessions[0]?.sent).toEqual(['batch 0', 'batch 1', 'read']);
  await writing;
});

it('sends no batch behind one that failed, though the session lives, and the next one on a new session', async () => {
  const { sessions, journal } = fakeDatabase();
  const first = Promise.withResolvers<string>();
  const ends = Promise.allSettled([
    journal.commitStatement(batch('one', first.promise)),
    journal.commitStatement(batch('two', Promise.resolve('second'))),
    journal.commitStatement(batch('three', Promise.resolve('third'))),
  ]);
  await new Promise(setImmediate);
  const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' });
  first.reject(deadlock);
  const notSent = { status: 'rejected', reason: expect.any(StatementNotSent) };
  expect(await ends).toEqual([{ status: 'rejected', reason: deadlock }, notSent, notSent]);
  expect(await journal.commitStatement(batch('again', Promise.resolve('written')))).toBe('written');
  expect(sessions).toEqual([
    { sent: ['one'], destroyed: true },
    { sent: ['again'], destroyed: false },
  ]);
});

it('sends no batch behind one that could not be built', async () => {
  const { sessions, journal } = fakeDatabase();
  const large = journal.commitStatement(() => {
    throw new RangeError('A batch of too many bytes');
  });
  const next = journal.commitStatement(batch('two', Promise.resolve('second')));
  expect(await Promise.allSettled([large, next])).toMatchObject([
    { reason: { name: 'RangeError' } },
    { reason: { name: 'StatementNotSent' } },
  ]);
  expect(sessions).toEqual([{ sent: [], destroyed: true }]);
});

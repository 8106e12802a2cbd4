import { EventEmitter } from 'node:events';
import { jest } from '@jest/globals';
import type { Database } from '../database/database.js';
import { ReplicaLife } from './replica-life.js';

/** Session of a server that answers everything, except heartbeats while `readsOnly` is set. */
class FakeSession extends EventEmitter {
  readsOnly = false;
  readonly asked: string[] = [];
  /** Resolves the call of `end`, which waits while the server stands still. */
  ending = Promise.withResolvers<undefined>();

  async connect(): Promise<void> {}

  async query(text: unknown): Promise<{ rows: object[] }> {
    this.asked.push(String(text));
    if (String(text).includes('INSERT INTO replica') && this.readsOnly)
      throw Object.assign(new Error('cannot execute INSERT in a read-only transaction'), { code: '25006' });
    return { rows: [{ now: new Date(), peers: [], key: '1', held: false }] };
  }

  end(): Promise<undefined> {
    return this.ending.promise;
  }
}

it('joins again where its new session is lost while the one before it has not ended', async () => {
  const sessions: FakeSession[] = [];
  const joined = (count: number): Promise<void> => until(() => sessions.length === count);
  const database = {
    createSession: () => sessions[sessions.push(new FakeSession()) - 1],
    learnTime: () => undefined,
    renewSessions: () => undefined,
  };
  const life = new ReplicaLife(database as unknown as Database);
  await life.beginLife();
  sessions[0]!.readsOnly = true;
  await joined(2);
  await until(() => sessions[1]!.listenerCount('end') > 0);
  sessions[1]!.emit('end');
  await joined(3);
  for (const { ending } of sessions) ending.resolve(undefined);
  await life.endLife();
});

it.each([
  ['for three seconds', 0, ['SET lock_timeout = 3000']],
  ['no longer than its heartbeat may be old', 6_500, ['SET lock_timeout = 1500']],
  ['for nothing where its heartbeat is late', 8_000, []],
])('waits for the locks of its lost session %s', async (_, ageMs, waits) => {
  const sessions: FakeSession[] = [];
  const database = { createSession: () => sessions[sessions.push(new FakeSession()) - 1], learnTime: () => undefined };
  const clock = jest.spyOn(performance, 'now').mockReturnValue(100_000);
  const life = new ReplicaLife(database as unknown as Database);
  try {
    await life.beginLife();
    clock.mockReturnValue(100_000 + ageMs);
    sessions[0]!.emit('end');
    await until(() => sessions[1]?.asked.some((it) => it.includes('INSERT INTO replica')) ?? false);
    expect(sessions[1]!.asked.filter((it) => it.startsWith('SET lock_timeout'))).toEqual(waits);
  } finally {
    clock.mockRestore();
    for (const { ending } of sessions) ending.resolve(undefined);
    await life.endLife();
  }
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

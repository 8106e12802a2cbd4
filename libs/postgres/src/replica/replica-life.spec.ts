import { EventEmitter } from 'node:events';
import type { Database } from '../database/database.js';
import { ReplicaLife } from './replica-life.js';

/** A session of a server that answers everything, unless a heartbeat is to find it reading only. */
class FakeSession extends EventEmitter {
  readsOnly = false;
  /** Resolves the call of `end` that waits for a server which stands still. */
  ending = Promise.withResolvers<undefined>();

  async connect(): Promise<void> {}

  async query(text: unknown): Promise<{ rows: object[] }> {
    if (String(text).includes('INSERT INTO replica') && this.readsOnly)
      throw Object.assign(new Error('cannot execute INSERT in a read-only transaction'), { code: '25006' });
    return { rows: [{ now: new Date(), peers: [] }] };
  }

  end(): Promise<undefined> {
    return this.ending.promise;
  }
}

it('joins again where its new session is lost while the one before it has not ended', async () => {
  const sessions: FakeSession[] = [];
  const joined = (count: number): Promise<void> => until(() => sessions.length === count);
  const database = {
    session: () => sessions[sessions.push(new FakeSession()) - 1],
    learnTime: () => undefined,
    renewSessions: () => undefined,
  };
  const life = new ReplicaLife(database as unknown as Database);
  await life.begin();
  sessions[0]!.readsOnly = true;
  await joined(2);
  await until(() => sessions[1]!.listenerCount('end') > 0);
  sessions[1]!.emit('end');
  await joined(3);
  for (const { ending } of sessions) ending.resolve(undefined);
  await life.end();
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

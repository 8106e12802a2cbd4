import { EventEmitter } from 'node:events';
import { Pool, type PoolClient } from 'pg';
import { ignoreSecondRelease } from './jobs.js';

/** Fake of a database session, without a server. */
class Session extends EventEmitter {
  /** Member of a session that the pool checks: a session that takes no statements would be discarded. */
  readonly _queryable = true;

  connect(callback: (error?: Error) => void): void {
    callback();
  }

  end(callback?: () => void): void {
    callback?.();
  }
}

function sessionPool(): Pool {
  return ignoreSecondRelease(new Pool({ Client: Session as never, max: 1 }));
}

const connected = (pool: Pool): Promise<[PoolClient, (error?: Error | boolean) => void]> =>
  new Promise((resolve, reject) => {
    pool.connect((error, client, release) =>
      client ? resolve([client, release]) : reject(error ?? new Error('no session')),
    );
  });

it('a session that a callback got is released once, however often release is called', async () => {
  const pool = sessionPool();
  const [first, release] = await connected(pool);
  release();
  const [second] = await connected(pool);
  release();
  expect(second).toBe(first);
  expect([pool.totalCount, pool.idleCount]).toEqual([1, 0]);
});

it('a session that is released as broken is replaced', async () => {
  const pool = sessionPool();
  const [broken, release] = await connected(pool);
  release(new Error('cut'));
  release();
  const client = await pool.connect();
  expect(client).not.toBe(broken);
  client.release();
  expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);
});

import type { Pool, PoolClient } from 'pg';

type Release = (error?: Error | boolean) => void;
type ConnectCallback = (error: Error | undefined, client: PoolClient | undefined, release: Release) => void;

/**
 * Makes a pool ignore the second release of a session that it hands to a callback; pg would throw.
 * The job queue (graphile-worker 0.18) releases its LISTEN session twice if its workers end during the first statement
 * of that session, which then breaks. Nothing awaits the second release, so the error would end this process.
 */
export function ignoreSecondRelease(pool: Pool): Pool {
  const connect = pool.connect.bind(pool) as (callback?: ConnectCallback) => Promise<PoolClient>;
  const connectForgiving = (callback?: ConnectCallback): Promise<PoolClient> | void => {
    if (callback === undefined) return connect();
    void connect((error, client, release) => callback(error, client, onlyOnce(release)));
  };
  return Object.assign(pool, { connect: connectForgiving });
}

function onlyOnce(release: Release): Release {
  let isReleased = false;
  return (error) => {
    if (isReleased) return;
    isReleased = true;
    release(error);
  };
}

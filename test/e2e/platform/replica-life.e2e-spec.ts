import { jest } from '@jest/globals';
import { Database, POSTGRES_MIGRATIONS, ReplicaLife } from '#libs/postgres';
import { endSessions } from '../../support/database-faults.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';

const HOUR_MS = 3_600_000;

let server: TestDatabase;
const databases: Database[] = [];
const lives: ReplicaLife[] = [];

beforeEach(async () => {
  server = await freshDatabase({ empty: true });
});

afterEach(async () => {
  await Promise.all(lives.splice(0).map((life) => life.endLife()));
  await Promise.all(databases.splice(0).map((database) => database.close()));
  await server.drop();
});

describe('ReplicaLife', () => {
  it('sees a replica die, and only that one', async () => {
    const [one, two, three] = [await born(), await born(), await born()];
    await serverHasBeenUp();
    expect(await one.deadReplicas()).toEqual([]);
    await two.endLife();
    await findsDead(one, two);
    await findsDead(three, two);
    await one.forgetReplica(two.replicaId);
    expect(await three.deadReplicas()).toEqual([]);
  });

  it('has the others look as soon as one has lost its session, and nobody while all live', async () => {
    const [one, two] = [await born(), await born()];
    await serverHasBeenUp();
    const looks: number[] = [];
    one.onLoss(() => looks.push(performance.now()));
    // A heartbeat says who there is.
    while (one.peers === 0) await turn();
    expect(looks).toEqual([]);
    const lost = new Promise<void>((resolve) => one.onLoss(resolve));
    await two.endLife();
    await lost;
    await findsDead(one, two);
    await one.forgetReplica(two.replicaId);
  });

  it('finds out how far the clocks of its process and of the database are apart', async () => {
    const now = Date.now.bind(Date);
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() - HOUR_MS);
    try {
      const database = await open();
      await born(database);
      const lead = (): number => database.timeThere(new Date(0)).getTime();
      // An answer that takes long says nothing.
      await until(() => lead() > 0, { what: 'an answer of the database' });
      expect(Math.abs(lead() - HOUR_MS)).toBeLessThan(HOUR_MS / 2);
    } finally {
      clock.mockRestore();
    }
  });

  it('is alive again at once when its session was cut', async () => {
    const database = await open();
    const [one, two] = [await born(database), await born()];
    await serverHasBeenUp();
    const before = await lockKey(database, two);
    await endSessions(server, 'replica');
    while ((await lockKey(database, two)) === before) await turn();
    expect(await one.deadReplicas()).toEqual([]);
  });

  it('lives while its new session cannot commit its new lock yet', async () => {
    const database = await open();
    const [one, two] = [await born(database), await born()];
    await serverHasBeenUp();
    const holder = await database.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM replica WHERE id = $1 FOR UPDATE', [two.replicaId]);
      // Its heartbeat waits here, so no session of it gets further.
      for (let times = 0; times < 2; times += 1) {
        await endSessionOf(database, two);
        await until(async () => (await waitingHeartbeats(database)) === 1, { what: 'its heartbeat to wait' });
        expect(await one.deadReplicas()).toEqual([]);
      }
    } finally {
      await holder.query('COMMIT');
      holder.release();
    }
  });

  it('lives while its new lock cannot be committed yet, though its lost session held the old one for longer', async () => {
    const database = await open();
    const [one, two] = [await born(database), await born()];
    await serverHasBeenUp();
    const [row, lock] = [await database.pool.connect(), await database.pool.connect()];
    try {
      await row.query('BEGIN');
      await row.query('SELECT FROM replica WHERE id = $1 FOR UPDATE', [two.replicaId]);
      // Stands for the lost session, whose lock the server keeps until its last commit is done.
      const kept = lock.query('SELECT pg_advisory_lock($1)', [await lockKey(database, two)]);
      await until(async () => (await waitingForLock(database)) === 1, { what: 'the old lock to be wanted' });
      await endSessionOf(database, two);
      await kept;
      await until(async () => (await waitingForLock(database)) === 1, { what: 'the new session to want the old lock' });
      await lock.query('SELECT pg_advisory_unlock_all()');
      await until(async () => (await waitingHeartbeats(database)) === 1, { what: 'its heartbeat to wait' });
      expect(await one.deadReplicas()).toEqual([]);
    } finally {
      await row.query('COMMIT');
      for (const session of [row, lock]) session.release();
    }
  });

  it('counts a replica that holds its lock but says nothing as dead', async () => {
    const database = await open();
    const [one, two] = [await born(database), await born()];
    await serverHasBeenUp();
    await fallSilent(database, two);
    // One that has just started has not heard anybody.
    expect(await one.deadReplicas()).toEqual([]);
    await knowsSilence(database, one);
    await findsSilent(database, one, two);
  });
});

describe('what a replica finds of another one', () => {
  it('is nothing where it has not proved its own life for more than four seconds', async () => {
    const database = await open();
    const [one, two] = [await born(database), await born()];
    await serverHasBeenUp();
    await two.endLife();
    const found = async (): Promise<unknown[] | false> => {
      await fallSilent(database, one, '5 seconds');
      const before = [await one.deadReplicas(), await one.unknownReplicas(['nobody'])];
      // Its next heartbeat proves its life, but not yet that it was uninterrupted.
      await until(async () => (await heartbeatAge(database, one)) < 4, { what: 'the next heartbeat' });
      const after = await one.deadReplicas();
      // Three seconds after that heartbeat it may find somebody: what was read that late proves nothing.
      return (await steadyAge(database, one)) < 3 && [...before, after];
    };
    expect(await until(found, { what: 'three looks within three seconds' })).toEqual([[], [], []]);
    await until(async () => (await one.deadReplicas()).length > 0, {
      what: 'the judge to be steady, three seconds later',
    });
    expect(await one.unknownReplicas(['nobody', two.replicaId])).toEqual(['nobody']);
  });

  it('is nothing where it does not hold its own lock', async () => {
    const database = await open();
    const [one, two] = [await born(database), await born()];
    await serverHasBeenUp();
    await two.endLife();
    await database.pool.query('UPDATE replica SET lock_key = 1 WHERE id = $1', [one.replicaId]);
    expect(await one.deadReplicas()).toEqual([]);
  });

  it('deletes the row of a dead replica, and never of one that lives again', async () => {
    const database = await open();
    const [one, two] = [await born(database), await born()];
    await serverHasBeenUp();
    await knowsSilence(database, one);
    await one.forgetReplica(two.replicaId);
    expect(await isKnown(database, two)).toBe(true);
    await findsSilent(database, one, two);
    await until(async () => (await heartbeatAge(database, two)) < 4, { what: 'its next heartbeat' });
    await one.forgetReplica(two.replicaId);
    expect(await isKnown(database, two)).toBe(true);
    await two.endLife();
    // A judge whose own heartbeat is late judges nobody.
    await until(
      async () => {
        await one.forgetReplica(two.replicaId);
        return !(await isKnown(database, two));
      },
      { what: 'the row to be deleted' },
    );
  });

  it('is checked on the row that a heartbeat is just writing', async () => {
    const database = await open();
    const [one, two] = [await born(database), await born()];
    await serverHasBeenUp();
    await knowsSilence(database, one);
    const session = await database.pool.connect();
    // A heartbeat of its own may come between: then the DELETE finds it alive, and waits for nothing.
    const waited = async (): Promise<boolean> => {
      await fallSilent(database, two);
      await session.query('BEGIN');
      await session.query('UPDATE replica SET heartbeat_at = now() WHERE id = $1', [two.replicaId]);
      let isOver = false;
      const forgotten = one.forgetReplica(two.replicaId).finally(() => (isOver = true));
      const isWaiting = await until(async () => ((await waitingDeletes(database)) === 1 ? 'waits' : isOver && 'over'), {
        what: 'the DELETE to wait, or to be over',
      });
      await session.query('COMMIT');
      await forgotten;
      return isWaiting === 'waits';
    };
    await until(waited, { what: 'a DELETE that waits for the heartbeat' });
    session.release();
    expect(await isKnown(database, two)).toBe(true);
  });

  it('finds a replica again whose row was deleted, with its next heartbeat', async () => {
    const database = await open();
    const [one, two] = [await born(database), await born()];
    await serverHasBeenUp();
    await database.pool.query('DELETE FROM replica WHERE id = $1', [two.replicaId]);
    expect(await one.unknownReplicas([two.replicaId])).toEqual([two.replicaId]);
    await until(() => isKnown(database, two), { what: 'its row' });
    expect(await one.unknownReplicas([two.replicaId])).toEqual([]);
    expect(await one.deadReplicas()).toEqual([]);
    // What deleted its row may have happened to others as well: it does not judge at once.
    expect(await steadySince(database, two)).not.toBe('-infinity');
  });
});

async function fallSilent({ pool }: Database, { replicaId }: ReplicaLife, since = '11 seconds'): Promise<void> {
  await pool.query('UPDATE replica SET heartbeat_at = now() - $2::interval WHERE id = $1', [replicaId, since]);
}

/** Ends the session that holds the lock of one replica. */
async function endSessionOf({ pool }: Database, { replicaId }: ReplicaLife): Promise<void> {
  const text = `SELECT pg_terminate_backend(l.pid, 30000) FROM replica r JOIN pg_locks l ON l.granted AND l.locktype = 'advisory'
    AND l.classid = (r.lock_key >> 32)::oid AND l.objid = (r.lock_key & 4294967295)::oid WHERE r.id = $1`;
  expect((await pool.query(text, [replicaId])).rowCount).toBe(1);
}

async function waitingForLock({ pool }: Database): Promise<number> {
  const { rowCount } = await pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'`,
  );
  return rowCount ?? 0;
}

async function waitingHeartbeats({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND query LIKE '%INSERT INTO replica%'`,
  );
  return rows.length;
}

async function waitingDeletes({ pool }: Database): Promise<number> {
  const { rowCount } = await pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND query LIKE '%DELETE FROM replica%'`,
  );
  return rowCount ?? 0;
}

/** As if it had been there for a minute. */
async function knowsSilence({ pool }: Database, { replicaId }: ReplicaLife): Promise<void> {
  await pool.query(`UPDATE replica SET started_at = now() - interval '1 minute' WHERE id = $1`, [replicaId]);
}

async function heartbeatAge({ pool }: Database, { replicaId }: ReplicaLife): Promise<number> {
  const text = 'SELECT extract(epoch FROM now() - heartbeat_at)::float AS age FROM replica WHERE id = $1';
  return (await pool.query<{ age: number }>(text, [replicaId])).rows[0]!.age;
}

/** Seconds for which a replica has proved its life without a gap. */
async function steadyAge({ pool }: Database, { replicaId }: ReplicaLife): Promise<number> {
  const text = 'SELECT extract(epoch FROM clock_timestamp() - steady_since)::float AS age FROM replica WHERE id = $1';
  return (await pool.query<{ age: number }>(text, [replicaId])).rows[0]!.age;
}

async function steadySince({ pool }: Database, { replicaId }: ReplicaLife): Promise<string> {
  const text = 'SELECT steady_since::text AS since FROM replica WHERE id = $1';
  return (await pool.query<{ since: string }>(text, [replicaId])).rows[0]!.since;
}

async function isKnown({ pool }: Database, { replicaId }: ReplicaLife): Promise<boolean> {
  return (await pool.query('SELECT FROM replica WHERE id = $1', [replicaId])).rowCount === 1;
}

async function born(database?: Database): Promise<ReplicaLife> {
  const life = new ReplicaLife(database ?? (await open()));
  await life.beginLife();
  lives.push(life);
  return life;
}

async function lockKey(database: Database, life: ReplicaLife): Promise<string> {
  const { rows } = await database.pool.query<{ lock_key: string }>('SELECT lock_key FROM replica WHERE id = $1', [
    life.replicaId,
  ]);
  return rows[0]!.lock_key;
}

/** Locks do not count just after the server's start. */
async function serverHasBeenUp(): Promise<void> {
  const database = await open();
  await database.pool.query(
    `SELECT pg_sleep(greatest(0, extract(epoch FROM pg_postmaster_start_time() + interval '3.1 seconds' - clock_timestamp())))`,
  );
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}

async function open(): Promise<Database> {
  const database = await Database.connectAndMigrate({ url: server.url, migrations: POSTGRES_MIGRATIONS });
  databases.push(database);
  return database;
}

/** Waits until one replica finds only the other one dead; one whose own heartbeat is late finds nobody. */
async function findsDead(judge: ReplicaLife, { replicaId }: ReplicaLife): Promise<void> {
  const found = await until(
    async () => {
      const dead = await judge.deadReplicas();
      return dead.length > 0 && dead;
    },
    { what: 'a dead replica to be found' },
  );
  expect(found).toEqual([replicaId]);
}

/** Has one replica find the other one dead that is silent; a heartbeat of the latter may come before the look. */
async function findsSilent(database: Database, judge: ReplicaLife, silent: ReplicaLife): Promise<void> {
  const found = await until(
    async () => {
      await fallSilent(database, silent);
      const dead = await judge.deadReplicas();
      return dead.length > 0 && dead;
    },
    { what: 'the silent replica to be found dead' },
  );
  expect(found).toEqual([silent.replicaId]);
}

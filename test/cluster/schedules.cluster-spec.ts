import { useCluster } from '../support/cluster-stage.js';
import { keepCredential, newSecret } from '../support/credentials.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { until } from '../support/until.js';
import { linear, script, unique } from '../support/workflow.js';

const SCHEDULES = 10;
/** Seconds by which the clocks of the replicas differ from that of the database. */
const SHIFTS = [-30, 0, 30];
/** Number of kills: a replica of each clock is killed once. */
const KILLS = 3;
/** Number of decisions between two kills. */
const BETWEEN = 30;

const clocks = SHIFTS.map((seconds) => new ShiftedClock(seconds * 1_000));
const envOf = (index: number): Record<string, string> => clocks[index % clocks.length]!.env;

const stage = useCluster({ replicas: 1, env: envOf(0) });

afterAll(() => {
  for (const clock of clocks) clock.remove();
});

/** Sender of deliveries to a webhook, one after another. Each is repeated until the service has answered its run. */
class Sender {
  /** Ids of the promised runs, by the id of the delivery. */
  readonly promised = new Map<string, string>();
  private readonly token = newSecret();
  private url = '';
  private isOver = false;
  private sent: Promise<void> | undefined;

  constructor(readonly workflow: string) {}

  async start(): Promise<void> {
    const secrets = [await keepCredential(stage.api, { kind: 'bearer', token: this.token })];
    const webhook = { scheme: 'bearer', secrets, idHeader: 'X-Id' };
    const body = { name: unique('hook'), workflow: this.workflow, webhook };
    const made = await stage.api.call<{ url: string }>('POST', '/triggers', body);
    if (made.status !== 201) throw new Error(`${made.status} ${made.text}`);
    this.url = made.body.url;
    this.sent = this.sendAll();
  }

  /** Ends the sending, after the delivery under way has been answered. */
  stop(): Promise<void> | undefined {
    this.isOver = true;
    return this.sent;
  }

  private async sendAll(): Promise<void> {
    for (let number = 1; !this.isOver; number += 1) {
      const id = `delivery-${number}`;
      let last = 'no answer';
      const look = async (): Promise<string | false> => {
        const { runId, told } = await this.sendOnce(id).catch((error: unknown) => ({ runId: '', told: String(error) }));
        last = told;
        return runId !== '' && runId;
      };
      this.promised.set(id, await until(look, { what: () => `the run of ${id}: ${last}` }));
    }
  }

  private async sendOnce(id: string): Promise<{ runId: string; told: string }> {
    const headers = { authorization: `Bearer ${this.token}`, 'x-id': id };
    const reply = await fetch(this.url, { method: 'POST', headers, body: '{}' });
    const told = `${reply.status} ${await reply.text()}`;
    if (reply.status !== 202 && reply.status < 500) throw new Error(told);
    return { runId: reply.status === 202 ? (JSON.parse(told.slice(4)) as { runId: string }).runId : '', told };
  }
}

interface Decided {
  name: string;
  due: Date;
  decided_at: Date;
  state: string;
  run_id: string;
  task_state: string | null;
}

async function count(): Promise<number> {
  const [row] = await stage.database.query<{ count: number }>('SELECT count(*)::int AS count FROM schedule_firing');
  return row?.count ?? 0;
}

const awaitCount = (least: number): Promise<unknown> =>
  until(async () => (await count()) >= least, { what: `${least} decisions of the schedules` });

/** Waits until a query has no rows, for example because the jobs of the replicas that were killed have run again. */
async function awaitNone(query: string): Promise<void> {
  let last: unknown[] = [];
  const isNone = async (): Promise<boolean> => {
    last = await stage.database.query(query);
    return last.length === 0;
  };
  await until(isNone, { what: () => `no row of ${query}; there are ${JSON.stringify(last)}` });
}

/** Pauses a schedule; again if the balancer had sent the request to a replica that was killed. */
async function pause(name: string): Promise<void> {
  let last = '';
  const isPaused = async (): Promise<boolean> => {
    const { status, text } = await stage.api.call('POST', `/schedules/${name}/pause`);
    last = `${status} ${text}`;
    if (status === 200 || status >= 502) return status === 200;
    throw new Error(last);
  };
  await until(isPaused, { what: () => `the pause of ${name}: ${last}` });
}

describe('schedules whose replicas are killed, with clocks half a minute apart', () => {
  let workflow: string;
  let decided: Decided[];
  let sender: Sender;

  beforeAll(async () => {
    for (const index of [1, 2]) await stage.cluster.add({ env: envOf(index) });
    await stage.cluster.balanced();
    ({ name: workflow } = await stage.api.save(linear(unique('ticks'), script('tick', { complete: 'done' }))));
    const names = Array.from({ length: SCHEDULES }, () => unique('every'));
    for (const name of names) {
      const body = { name, workflow, every: '1s', overlap: 'allow', catchUp: '1h' };
      const { status, text } = await stage.api.call('POST', '/schedules', body);
      if (status !== 201) throw new Error(`${status} ${text}`);
    }
    sender = new Sender((await stage.api.save(linear(unique('pushed'), script('push', { complete: 'done' })))).name);
    await sender.start();
    for (let killed = 0; killed < KILLS; killed += 1) {
      await awaitCount((await count()) + BETWEEN);
      const [first] = stage.cluster.replicas;
      await stage.cluster.kill(first!);
      await stage.cluster.add({ env: envOf(killed) });
    }
    await awaitCount((await count()) + BETWEEN);
    await sender.stop();
    for (const name of names) await pause(name);
    decided = await until(
      async () => {
        const rows = await stage.database.query<Decided>(DECIDED);
        return rows.every(({ task_state }) => task_state === 'TASK_STATE_COMPLETED') && rows;
      },
      { what: 'the end of each run' },
    );
  });

  it('decide about each time once, and never before it', () => {
    for (const name of new Set(decided.map((row) => row.name))) {
      const dues = decided.filter((row) => row.name === name).map(({ due }) => due.getTime());
      expect([name, dues]).toEqual([name, dues.map((_, index) => dues[0]! + index * 1_000)]);
    }
    expect(decided.filter(({ due, decided_at }) => decided_at < due)).toEqual([]);
  });

  it('start one run for each, and no other', async () => {
    expect(decided.length).toBeGreaterThanOrEqual((KILLS + 1) * BETWEEN);
    expect(decided.filter(({ state }) => state !== 'started')).toEqual([]);
    const runs = await stage.database.query<{ task_id: string }>('SELECT task_id FROM task WHERE agent = $1', [
      `workflows/${workflow}`,
    ]);
    expect(runs.map(({ task_id }) => task_id).toSorted()).toEqual(decided.map(({ run_id }) => run_id).toSorted());
  });

  it('start one run for each delivery of a webhook, with the id that was promised', async () => {
    expect(sender.promised.size).toBeGreaterThanOrEqual(KILLS);
    const runs = await until(
      async () => {
        const rows = await stage.database.query<{ task_id: string; state: string }>(RUNS, [sender.workflow]);
        const isWhole = rows.length >= sender.promised.size;
        return isWhole && rows.every(({ state }) => state === 'TASK_STATE_COMPLETED') && rows;
      },
      { what: 'the end of each run of the webhook' },
    );
    expect(runs.map(({ task_id }) => task_id).toSorted()).toEqual([...sender.promised.values()].toSorted());
  });

  it('leave no job that has given up, and no firing or delivery that waits for one', async () => {
    expect(await stage.database.query(GIVEN_UP)).toEqual([]);
    // A replica may have been killed between the commit of a run and the note that it started.
    await awaitNone(WAITING);
    await awaitNone(UNSTARTED);
  });
});

// A job without its key has been replaced by a newer one, while a replica that was killed ran it.
const GIVEN_UP = `
  SELECT key, last_error FROM graphile_worker.jobs
  WHERE (task_identifier LIKE 'schedules.%' OR task_identifier LIKE 'triggers.%') AND attempts >= max_attempts AND key IS NOT NULL`;

const WAITING = `SELECT * FROM schedule_firing WHERE state IN ('starting', 'queued')`;

const UNSTARTED = `SELECT * FROM trigger_delivery WHERE state = 'starting'`;

const RUNS = `SELECT task_id, state FROM task WHERE agent = 'workflows/' || $1`;

const DECIDED = `
  SELECT schedule.name, firing.due, firing.decided_at, firing.state, firing.run_id, task.state AS task_state
  FROM schedule_firing AS firing JOIN schedule USING (schedule_id) LEFT JOIN task ON task.task_id = firing.run_id
  ORDER BY schedule.name, firing.due`;

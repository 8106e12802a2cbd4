import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '#libs/protocol';
import { message, VERSION } from '../support/a2a.js';
import { useCluster } from '../support/cluster-stage.js';
import { SseReader } from '../support/sse.js';
import { hasEnded, logProblems, storedLogs } from '../support/stored-log.js';
import { before, until } from '../support/until.js';
import { linear, script, unique } from '../support/workflow.js';

const stage = useCluster({ replicas: 3, env: { SHUTDOWN_GRACE: '4' } });

/** State of a Task as the service reported it to a client, over any interface. */
interface Told {
  taskId: string;
  /** Last reported state. For a run, it is the state of its Task. */
  state: string;
}

describe('every replica is stopped and replaced, one after the other, under load', () => {
  const told: Told[] = [];
  const failures: string[] = [];
  let going = true;

  /**
   * Sends a request again until it is accepted: after 503, which the balancer also sends if no replica accepted the
   * connection; and with the same key after 502, for a replica that had just closed.
   */
  async function accepted(url: string, body: unknown): Promise<Response> {
    const headers = { 'idempotency-key': unique('key') };
    for (;;) {
      const reply = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...VERSION, ...headers },
        body: JSON.stringify(body),
      });
      if (![502, 503].includes(reply.status)) return reply;
      await reply.body?.cancel();
      await delay(50);
    }
  }

  async function blocking(name: string): Promise<void> {
    const request = { message: message('x') } as unknown as JsonObject;
    const reply = await accepted(`${stage.api.base(name, 's')}/message:send`, request);
    const body = (await reply.json()) as { task?: { id: string; status: { state: string } } };
    if (body.task === undefined) failures.push(`${reply.status} ${JSON.stringify(body)}`);
    else told.push({ taskId: body.task.id, state: body.task.status.state });
  }

  async function run(name: string): Promise<void> {
    const reply = await accepted(`${stage.api.url}/api/workflows/${name}/runs`, { inputs: {} });
    const { runId } = (await reply.json()) as { runId?: string };
    if (runId === undefined) return void failures.push(`a run was not accepted: ${reply.status}`);
    const status = await follow(runId);
    told.push({ taskId: runId, state: `TASK_STATE_${status?.toUpperCase()}` });
  }

  /** Reads a run's events to the end, and resumes whenever the stream ends in between. */
  async function follow(runId: string): Promise<string | undefined> {
    const seen: number[] = [];
    for (;;) {
      const url = `${stage.api.url}/api/runs/${runId}/events`;
      const reader = await SseReader.open<{ status?: string }>(url, { lastEventId: seen.at(-1) ?? 0 }).catch(
        () => undefined,
      );
      const frames = await reader?.all().catch(() => reader.frames);
      for (const frame of frames ?? []) {
        if (Number(frame.id) !== seen.length + 1) failures.push(`run ${runId}: ${frame.id} after ${seen.length}`);
        seen.push(Number(frame.id));
        if (frame.event === 'done') return frame.data.status;
      }
      await delay(50);
    }
  }

  async function client(task: (name: string) => Promise<void>, name: string): Promise<void> {
    while (going) await task(name).catch((error: Error) => failures.push(`${error.message}: ${String(error.cause)}`));
  }

  it('no acknowledged request is lost and no run fails; runs longer than the grace time go on elsewhere', async () => {
    const [short, chain, long] = [unique('short'), unique('chain'), unique('long')];
    const slow = (id: string, sleep: number) => script(id, { status: 'working' }, { sleep }, { complete: 'done' });
    await stage.api.save(linear(short, slow('s', 300)));
    await stage.api.save(linear(chain, slow('a', 200), slow('b', 200), slow('c', 200)));
    await stage.api.save(linear(long, slow('a', 5_000), slow('b', 5_000)));
    const longRuns = [1, 2, 3].map(() => run(long));
    const clients = [...[1, 2, 3, 4].map(() => client(blocking, short)), ...[1, 2, 3, 4].map(() => client(run, chain))];
    for (const old of [...stage.cluster.replicas]) {
      await stage.cluster.add();
      await stage.cluster.balanced();
      await stage.cluster.retire(old);
    }
    going = false;
    await before(Promise.all([...clients, ...longRuns]), { what: 'the clients to end' });
    expect(failures).toEqual([]);
    expect(told.filter(({ state }) => state !== 'TASK_STATE_COMPLETED')).toEqual([]);
    const stored = new Map((await storedLogs(stage.database.query)).map((log) => [log.taskId, log]));
    expect(told.filter(({ taskId, state }) => stored.get(taskId)?.state !== state)).toEqual([]);
    await until(async () => (await storedLogs(stage.database.query)).every(hasEnded), { what: 'every Task to end' });
    expect((await storedLogs(stage.database.query)).flatMap(logProblems)).toEqual([]);
    const taken = 'SELECT count(*)::int AS n FROM task WHERE agent = ANY($1)';
    const agents = [`workflows/${short}/nodes/s`, `workflows/${chain}`, `workflows/${long}`];
    expect(await stage.database.query(taken, [agents])).toEqual([{ n: told.length }]);
    process.stderr.write(`rolling restart: ${told.length} requests and runs acknowledged and completed\n`);
  });
});

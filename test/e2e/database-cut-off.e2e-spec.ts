import { status } from '@grpc/grpc-js';
import type { JsonObject } from '#libs/protocol';
import { getTask, rest, rpc, sendTask, stream, subscribe } from '../support/a2a.js';
import { DatabaseLink } from '../support/database-link.js';
import { GrpcWire } from '../support/grpc-wire.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { ids, range } from '../support/sse.js';
import { untilReady } from '../support/until-ready.js';
import { before, until } from '../support/until.js';
import { Api, linear, says, script, unique } from '../support/workflow.js';

const LONG = { within: 180_000 };
const CHUNKS = range(1, 40).flatMap((n): JsonObject[] => [{ sleep: 50 }, { artifact: { parts: [{ text: `${n}` }] } }]);
const LEGACY = { 'a2a-version': '0.3' };
const KINDS = ['journal', 'replica', 'signals', 'jobs'];

let database: TestDatabase;
let link: DatabaseLink;
/** Reaches the database over the link. */
let cutOff: Parley;
/** Reaches it directly. */
let other: Parley;
let workflow: string;
let taskId: string;

beforeAll(async () => {
  database = await freshDatabase();
  link = await DatabaseLink.to(database.url);
  // A busy machine takes longer to find that a connection is lost than a new Message waits by default.
  cutOff = await startParley({ databaseUrl: link.url, env: { GRPC_PORT: '0', JOURNAL_STALL_LIMIT: '120s' } });
  other = await startParley({ databaseUrl: database.url });
  const api = new Api(other.url);
  const long = script('long', { status: 'working' }, ...CHUNKS, { complete: 'done' });
  ({ name: workflow } = await api.save(linear(unique('away'), script('quick', ...says('hello')), long)));
  ({ id: taskId } = await sendTask(api.base(workflow, 'quick'), 'x'));
});

afterEach(() => link.mend());

afterAll(async () => {
  await cutOff?.stop();
  await other?.stop();
  await link?.stop();
  await database?.drop();
});

const base = (replica: Parley, node: string): string => new Api(replica.url).base(workflow, node);

interface Told {
  status: number;
  headers: Headers;
  body: unknown;
}

const REQUESTS: Record<string, () => Promise<Told>> = {
  'GetTask over JSON-RPC': () => rpc(base(cutOff, 'quick'), 'GetTask', { id: taskId }),
  'a stream over JSON-RPC': () => rpc(base(cutOff, 'quick'), 'SubscribeToTask', { id: taskId }),
  'CancelTask over JSON-RPC': () => rpc(base(cutOff, 'quick'), 'CancelTask', { id: taskId }),
  'ListTasks over REST': () => rest(base(cutOff, 'quick'), 'GET', '/tasks'),
  'tasks/get of 0.3': () => rpc(base(cutOff, 'quick'), 'tasks/get', { id: taskId }, { headers: LEGACY }),
  'REST of 0.3': () => rest(base(cutOff, 'quick'), 'GET', `/v1/tasks/${taskId}`, { headers: LEGACY }),
  'the list of runs': () => rest(cutOff.url, 'GET', '/api/runs'),
  'a workflow': () => rest(cutOff.url, 'GET', `/api/workflows/${workflow}`),
};

describe('while the database is out of reach', () => {
  it.each(Object.entries(REQUESTS))('%s is 503 with Retry-After', async (_name, request) => {
    link.cut();
    const told = await request();
    expect({ status: told.status, retry: told.headers.get('retry-after') }).toEqual({
      status: 503,
      retry: expect.stringMatching(/^[1-9]\d*$/),
    });
    expect(JSON.stringify(told.body)).not.toMatch(/Internal error|"INTERNAL"|terminated/);
  });

  it('gRPC answers UNAVAILABLE', async () => {
    await untilReady(cutOff);
    const card = await rest<{ supportedInterfaces: { url: string; protocolBinding: string }[] }>(
      cutOff.url,
      'GET',
      '/.well-known/agent-card.json',
    );
    const grpc = card.body.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')?.url ?? '';
    link.cut();
    const wire = new GrpcWire(() => ({ url: cutOff.url, grpc }));
    const refusal = await wire.refusal(`workflows/${workflow}/nodes/quick`, 'GetTask', { id: taskId });
    expect(refusal.code).toBe(status.UNAVAILABLE);
  });

  it('a stream of a Task that another replica executes stays open, and misses nothing', async () => {
    await untilReady(cutOff);
    const origin = await stream(base(other, 'long'), 'x');
    const first = await origin.next();
    const id = (first?.data.result as { task?: { id: string } }).task?.id ?? '';
    const reader = await subscribe(base(cutOff, 'long'), id, 0);
    await reader.find((frame) => frame.id === '5', LONG);
    link.cut();
    await origin.find((frame) => frame.id === '20', LONG);
    link.mend();
    const frames = await reader.all(LONG);
    expect(frames.filter(({ data }) => data.error !== undefined)).toEqual([]);
    expect(ids(frames)).toEqual(range(1, (await origin.all(LONG)).length));
  });
});

describe('when the network loses all connections to the database and tells neither side', () => {
  const sessions = async (): Promise<Map<number, string>> => {
    const rows = await database.query<{ pid: number; name: string }>(
      `SELECT pid, application_name AS name FROM pg_stat_activity
       WHERE datname = current_database() AND split_part(application_name, ':', 2) = $1`,
      [String(cutOff.pid)],
    );
    return new Map(rows.map(({ pid, name }) => [pid, name.split(':').at(-1)!]));
  };

  it('its sessions are replaced, those that only listen too, and what it is asked for is done once', async () => {
    await until(async () => (await fetch(`${cutOff.url}/health/ready`)).status === 200, LONG);
    const base = new Api(cutOff.url).base(workflow, 'quick');
    const earlier = await sendTask(base, 'before');
    const lost = await until(
      async () => {
        const found = await sessions();
        const kinds = new Set(found.values());
        return KINDS.every((kind) => kinds.has(kind)) && found;
      },
      { what: 'sessions of all kinds', ...LONG },
    );
    link.lose();
    const answered = before(Promise.all([sendTask(base, 'after'), getTask(base, earlier.id)]), LONG);
    const renewed = new Set<string>();
    await until(
      async () => {
        for (const [pid, kind] of await sessions()) if (!lost.has(pid)) renewed.add(kind);
        return KINDS.every((kind) => renewed.has(kind));
      },
      { what: 'sessions of all kinds to be replaced', ...LONG },
    );
    const [after, again] = await answered;
    expect([after, again].map(({ status }) => status.state)).toEqual(Array(2).fill('TASK_STATE_COMPLETED'));
    const rows = await database.query<{ id: string }>('SELECT task_id AS id FROM task WHERE context_id = ANY($1)', [
      [after.contextId, earlier.contextId],
    ]);
    expect(rows.map(({ id }) => id).toSorted()).toEqual([after.id, earlier.id].toSorted());
  });
});

it('all goes on when it is back', async () => {
  await until(async () => (await fetch(`${cutOff.url}/health/ready`)).status === 200, LONG);
  expect((await rpc(base(cutOff, 'quick'), 'GetTask', { id: taskId })).body.result).toBeDefined();
});

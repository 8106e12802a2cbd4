import type { Commit, CommitFeed, CommittedEvent, TaskScope } from '#libs/tasks';
import { LoopShares, Metrics, WorkTurns } from '#libs/service';
import { EventGateway, type GatewayFrame } from './event-gateway.js';

let written: string[];

beforeEach(() => (written = []));

function event(taskId: string, owner: string, place: number): CommittedEvent {
  const header = { taskId, contextId: 'c', tenant: '', owner, agent: 'a' };
  const statusUpdate = { taskId, contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
  const committed = {
    taskId,
    sequence: 1,
    header,
    place,
    event: { statusUpdate },
    get json() {
      written.push(taskId);
      return JSON.stringify({ statusUpdate });
    },
  };
  return committed as unknown as CommittedEvent;
}

function gatewayOver(commit: Commit, reached: [string, bigint][] = []): EventGateway {
  const feed = {
    readPosition: async () => ({ position: new Map(reached), at: new Date(0) }),
    followCommits: async function* () {
      yield commit;
    },
  };
  return new EventGateway(
    feed as unknown as CommitFeed,
    { names: [], projections: [] },
    new WorkTurns(new LoopShares(new Metrics())),
  );
}

it('makes frames of nobody but the caller, each once, and counts the places of all', async () => {
  const events = [event('1', 'eve', 0), event('2', 'ann', 1), event('3', 'ann', 2), event('4', 'eve', 3)];
  const gateway = gatewayOver({ writer: 'w', position: 1n, committedAt: new Date(0), bytes: 0, events });
  const query = gateway.parseQuery({}, { tenant: '', owner: 'ann' });
  for (let clients = 0; clients < 2; clients += 1) {
    const cursors = [];
    const follow = await gateway.followQuery(query);
    for await (const { cursor } of follow(new AbortController().signal)) cursors.push(cursor);
    expect(cursors).toEqual(['0', '0~w.0.65', '0~w.1']);
  }
  expect(written).toEqual(['2', '3']);
});

it('goes on in the midst of a commit of which something was purged since', async () => {
  const events = [event('1', 'ann', 0), event('2', 'ann', 1), event('3', 'ann', 2)];
  const commit = { writer: 'w', position: 1n, committedAt: new Date(), bytes: 0 };
  const scope = { tenant: '', owner: 'ann' };
  const [, , second] = await framesOf(gatewayOver({ ...commit, events }), {}, scope);
  const later = gatewayOver({ ...commit, events: events.slice(1) }, [['w', 1n]]);
  const rest = await framesOf(later, { since: second?.cursor }, scope);
  expect(rest.map(({ text }) => (JSON.parse(text.takeText()) as { taskId?: string }).taskId)).toEqual([undefined, '3']);
});

it('writes small frames, whatever writers a cursor invents', async () => {
  const events = [event('1', 'ann', 0), event('2', 'ann', 1)];
  const commit = { writer: 'w', position: 2n, committedAt: new Date(), bytes: 0, events };
  const invented = Array.from({ length: 700 }, (_, n) => `~invented-${n}.zz.7`).join('');
  const since = `${Date.now().toString(36)}~w.1${invented}`;
  expect(since.length).toBeGreaterThan(12_000);
  const frames = await framesOf(gatewayOver(commit, [['w', 2n]]), { since }, { tenant: '', owner: 'ann' });
  expect(frames.map(({ cursor }) => cursor.split('~').length)).toEqual([2, 2, 2]);
  expect(frames.every(({ text }) => text.length < 2_000)).toBe(true);
});

async function framesOf(gateway: EventGateway, query: { since?: string }, scope: TaskScope): Promise<GatewayFrame[]> {
  const follow = await gateway.followQuery(gateway.parseQuery(query, scope));
  return Array.fromAsync(follow(new AbortController().signal));
}

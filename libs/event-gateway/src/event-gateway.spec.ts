import type { Commit, CommitFeed, CommittedEvent } from '#libs/tasks';
import { EventGateway } from './event-gateway.js';

let written: string[];

beforeEach(() => (written = []));

function event(taskId: string, owner: string): CommittedEvent {
  const header = { taskId, contextId: 'c', tenant: '', owner, agent: 'a' };
  const statusUpdate = { taskId, contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
  const committed = {
    taskId,
    sequence: 1,
    header,
    event: { statusUpdate },
    get json() {
      written.push(taskId);
      return JSON.stringify({ statusUpdate });
    },
  };
  return committed as unknown as CommittedEvent;
}

function gatewayOver(commit: Commit): EventGateway {
  const feed = {
    position: async () => ({ position: new Map(), at: new Date(0) }),
    follow: async function* () {
      yield commit;
    },
  };
  return new EventGateway(feed as unknown as CommitFeed, { names: [], projections: [] });
}

it('writes no frame that nobody wants, and each once, and counts all of them', async () => {
  const events = [event('1', 'eve'), event('2', 'ann'), event('3', 'ann'), event('4', 'eve')];
  const gateway = gatewayOver({ writer: 'w', position: 1n, committedAt: new Date(0), bytes: 0, events });
  const query = gateway.read({}, { tenant: '', owner: 'ann' });
  for (let clients = 0; clients < 2; clients += 1) {
    const cursors = [];
    const follow = await gateway.open(query);
    for await (const { cursor } of follow(new AbortController().signal)) cursors.push(cursor);
    expect(cursors).toEqual(['0', '0~w.0.2', '0~w.0.3']);
  }
  expect(written).toEqual(['2', '3']);
});

import type { JsonObject, StreamResponse, Task } from '#libs/protocol';
import {
  getTask,
  outline,
  rest,
  rpc,
  type RpcReply,
  sendParams,
  sendTask,
  stream,
  subscribe,
  VERSION,
} from '../support/a2a.js';
import { ids, range, type SseFrame, SseReader } from '../support/sse.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { ruled, script, unique } from '../support/workflow.js';

const stage = useSharedStage();
let base: string;
const at = (node: string): string => `${base}/nodes/${node}`;
type RpcFrame = SseFrame<RpcReply<StreamResponse>['body']>;

const FOUR = [
  'task TASK_STATE_SUBMITTED',
  'status TASK_STATE_WORKING',
  'artifact one',
  'artifact two',
  'status TASK_STATE_COMPLETED',
];

beforeAll(async () => {
  const name = unique('streams');
  base = stage.api.base(name);
  const work: JsonObject[] = [
    { status: 'working', text: 'on it' },
    { artifact: { artifactId: 'a', parts: [{ text: 'one' }] } },
  ];
  const last: JsonObject[] = [
    { artifact: { artifactId: 'a', append: true, lastChunk: true, parts: [{ text: 'two' }] } },
    { complete: 'done' },
  ];
  await stage.api.save({
    name,
    nodes: [
      script('quick', ...work, ...last),
      script('slow', ...work, { sleep: 700 }, ...last),
      script('long', ...work, { sleep: 600_000 }, ...last),
      script('direct', { reply: [{ text: 'hi' }] }),
      ruled('asks', [
        { when: { turn: 1 }, steps: [{ ask: 'more?' }] },
        { when: { turn: 2 }, steps: [...work, ...last] },
      ]),
    ],
    edges: [],
  });
});

const outlines = (frames: readonly RpcFrame[]): string[] => frames.map(({ data }) => outline(data.result));
const taskOf = (frame: RpcFrame | undefined): Task => (frame?.data.result as { task: Task }).task;

/** The events after the Task snapshot that a subscription may begin with. */
function withoutSnapshot(frames: readonly RpcFrame[]): RpcFrame[] {
  return frames.filter(({ data }) => data.result === undefined || !('task' in data.result));
}

describe('A2A streams', () => {
  it("SendStreamingMessage: the Task first, then every event in order, ids 1..n, and the end with the Task's", async () => {
    const reader = await stream(at('quick'), 'go');
    const frames = await reader.all();
    expect(outlines(frames)).toEqual(FOUR);
    expect(ids(frames)).toEqual(range(1, 5));
    expect(frames.every(({ data }) => data.jsonrpc === '2.0' && data.id === 1)).toBe(true);
    const task = await getTask(at('quick'), taskOf(frames[0]).id);
    expect(task.artifacts?.[0]?.parts.map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('REST message:stream is the same with bare StreamResponses', async () => {
    const reader = await SseReader.open<StreamResponse>(`${at('quick')}/message:stream`, {
      method: 'POST',
      headers: VERSION,
      body: sendParams('go'),
    });
    const frames = await reader.all();
    expect(frames.map(({ data }) => outline(data))).toEqual(FOUR);
    expect(ids(frames)).toEqual(range(1, 5));
  });

  it('a stream of a direct Message is that Message and nothing else', async () => {
    expect(outlines(await (await stream(at('direct'), 'go')).all())).toEqual(['message']);
  });

  it("a stream ends where the Task waits, and the next turn's stream begins with the Task", async () => {
    const first = await (await stream(at('asks'), 'go')).all();
    expect(outlines(first).at(-1)).toBe('status TASK_STATE_INPUT_REQUIRED');
    const id = taskOf(first[0]).id;
    const second = await (await stream(at('asks'), 'yes', { fields: { taskId: id } })).all();
    expect(outlines(second)[0]).toMatch(/^task /);
    expect(outlines(second).at(-1)).toBe('status TASK_STATE_COMPLETED');
    expect(Number(second.at(-1)?.id)).toBeGreaterThan(Number(first.at(-1)?.id));
    expect((await getTask(at('asks'), id)).history?.map(({ role }) => role).slice(0, 3)).toEqual([
      'ROLE_USER',
      'ROLE_AGENT',
      'ROLE_USER',
    ]);
  });

  it('an event is sent when it happens, not when the Task ends', async () => {
    const reader = await stream(at('long'), 'go');
    await reader.find(({ data }) => outline(data.result) === 'artifact one');
    const id = taskOf(reader.frames[0]).id;
    expect((await getTask(at('long'), id)).status.state).toBe('TASK_STATE_WORKING');
    await canceled(id);
    expect(outlines(await reader.all()).at(-1)).toBe('status TASK_STATE_CANCELED');
  });

  it('SubscribeToTask begins with the Task as it is and goes on live to its end', async () => {
    const working = await started('long');
    await until(async () => (await getTask(at('long'), working.id)).artifacts !== undefined);
    const following = await subscribe(at('long'), working.id);
    expect(taskOf(await following.next()).artifacts?.[0]?.parts).toHaveLength(1);
    await canceled(working.id);
    const frames = await following.all();
    expect(outlines(frames)).toEqual(['task TASK_STATE_WORKING', 'status TASK_STATE_CANCELED']);
    expect(ids(frames)).toEqual([3, 4]);

    const waiting = await sendTask(at('asks'), 'go');
    const live = await subscribe(at('asks'), waiting.id);
    expect(outline((await live.next())?.data.result)).toBe('task TASK_STATE_INPUT_REQUIRED');
    await sendTask(at('asks'), 'yes', { fields: { taskId: waiting.id } });
    const all = await live.all();
    expect(outlines(all).slice(-3)).toEqual(FOUR.slice(2));
    const [first = 0] = ids(all);
    expect(ids(all)).toEqual(range(first, first + all.length - 1));
  });

  it.each(['POST', 'GET'])('REST tasks/{id}:subscribe answers %s', async (method) => {
    const task = await started('long');
    const reader = await SseReader.open<StreamResponse>(`${at('long')}/tasks/${task.id}:subscribe`, {
      method,
      headers: VERSION,
    });
    expect(outline((await reader.next())?.data)).toMatch(/^task /);
    await canceled(task.id);
    expect(outline((await reader.all()).at(-1)?.data)).toBe('status TASK_STATE_CANCELED');
  });

  it('Last-Event-ID replays what was missed and then goes live, without a gap or a duplicate', async () => {
    const reader = await stream(at('slow'), 'go');
    const second = (await reader.find(({ id }) => id === '2'))?.id;
    const id = taskOf(reader.frames[0]).id;
    reader.abort();
    const frames = await (await subscribe(at('slow'), id, second)).all();
    expect(ids(withoutSnapshot(frames))).toEqual([3, 4, 5]);
    expect(outlines(withoutSnapshot(frames))).toEqual(FOUR.slice(2));
  });

  it('?since= is the same as Last-Event-ID', async () => {
    const frames = await (await stream(at('quick'), 'go')).all();
    const id = taskOf(frames[0]).id;
    const reader = await SseReader.open<StreamResponse>(`${at('quick')}/tasks/${id}:subscribe?since=3`, {
      method: 'POST',
      headers: VERSION,
    });
    expect(
      (await reader.all()).filter(({ data }) => !('task' in data)).map(({ id: sequence }) => Number(sequence)),
    ).toEqual([4, 5]);
  });

  it('SubscribeToTask of a finished Task is UnsupportedOperation; with Last-Event-ID it replays the rest and closes', async () => {
    const task = await sendTask(at('quick'), 'go');
    const refused = await rpc(at('quick'), 'SubscribeToTask', { id: task.id });
    expect(refused.body.error).toMatchObject({ code: -32004 });
    expect((await rest(at('quick'), 'POST', `/tasks/${task.id}:subscribe`)).status).toBe(400);
    expect(outlines(withoutSnapshot(await (await subscribe(at('quick'), task.id, 2)).all()))).toEqual(FOUR.slice(2));
    const everything = await (await subscribe(at('quick'), task.id, 0)).all();
    expect(ids(withoutSnapshot(everything)).at(-1)).toBe(5);
    expect(outlines(withoutSnapshot(await (await subscribe(at('quick'), task.id, 5)).all()))).toEqual([]);
  });

  it.each(['abc', '-1', '1.5', '99999999999999999999', '5; DROP'])(
    'a Last-Event-ID of `%s` is refused or begins anew, never a 5xx',
    async (lastEventId) => {
      const task = await sendTask(at('quick'), 'go');
      const response = await fetch(at('quick'), {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...VERSION, 'last-event-id': lastEventId },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: task.id } }),
      });
      expect(response.status).toBeLessThan(500);
      expect(await response.text()).not.toContain('-32603');
    },
  );

  it('SubscribeToTask of an unknown Task is TaskNotFound', async () => {
    expect((await rpc(at('quick'), 'SubscribeToTask', { id: 'nope' })).body.error).toMatchObject({ code: -32001 });
  });

  it('several readers of one Task get the same events in the same order, and one that leaves takes nothing from the others', async () => {
    const task = await started('slow');
    const readers = await Promise.all(range(1, 5).map(() => subscribe(at('slow'), task.id, 0)));
    readers[0]?.abort();
    const all = await Promise.all(readers.slice(1).map((reader) => reader.all()));
    for (const frames of all)
      expect(withoutSnapshot(frames).map(({ raw }) => raw)).toEqual(
        withoutSnapshot(all[0] ?? []).map(({ raw }) => raw),
      );
    expect(outlines(all[0] ?? []).at(-1)).toBe('status TASK_STATE_COMPLETED');
  });
});

/** Ends a Task that works for longer than any reader takes to come. */
async function canceled(id: string): Promise<void> {
  const { body } = await rpc<Task>(at('long'), 'CancelTask', { id });
  expect(body.result?.status.state).toBe('TASK_STATE_CANCELED');
}

function started(node: string): Promise<Task> {
  return sendTask(at(node), 'go', { configuration: { returnImmediately: true } });
}

describe('the log of a Task at /api', () => {
  interface LogPage {
    events: { sequence: number; recordedAt: string; event: StreamResponse }[];
    next?: number;
  }
  const page = (id: string, query = '') =>
    stage.api.call<LogPage & { errors?: { path: string }[] }>('GET', `/tasks/${id}/events${query}`);

  it('has what a stream shows, page by page, with the numbers of its ids', async () => {
    const frames = await (await stream(at('quick'), 'go')).all();
    const { id } = taskOf(frames[0]);
    const first = await page(id, '?limit=3');
    const second = await page(id, `?after=${first.body.next}`);
    const events = [...first.body.events, ...second.body.events];
    expect(events.map(({ sequence, event }) => [sequence, event])).toEqual(
      frames.map((frame) => [Number(frame.id), frame.data.result]),
    );
    expect([first.body.next, second.body.next]).toEqual([3, undefined]);
    expect(events.every(({ recordedAt }) => Date.parse(recordedAt) > 0)).toBe(true);
  });

  it.each(['?limit=0', '?limit=201', '?limit=x', '?after=-1', '?after=1.5', '?after=1&after=2', '?before=1'])(
    'refuses %s',
    async (query) => {
      const { id } = await sendTask(at('quick'), 'go');
      const name = /\w+/.exec(query)![0];
      const { status, text } = await page(id, query);
      expect([status, text]).toEqual(
        name === 'before' ? [200, expect.any(String)] : [400, expect.stringContaining(name)],
      );
    },
  );

  it.each(['none', '0190c1de-7a53-7f0c-9a57-2f8f0f6f3b52', '%00', 'x'.repeat(300)])('has none of %s', async (id) => {
    expect((await page(id)).status).toBe(404);
  });
});

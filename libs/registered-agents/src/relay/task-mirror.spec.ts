import { createHash } from 'node:crypto';
import { textPart, type Part, type StreamResponse, type Task, type TaskState } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { TaskMirror } from './task-mirror.js';

const OWN = { taskId: 'ours', contextId: 'our-context' };
const THEIRS = { taskId: 'theirs', contextId: 'their-context' };

function said(messageId: string, text: string) {
  return { messageId, ...THEIRS, role: 'ROLE_AGENT' as const, parts: [textPart(text)], referenceTaskIds: ['other'] };
}

function status(state: TaskState, message?: ReturnType<typeof said>): StreamResponse {
  return { statusUpdate: { ...THEIRS, status: { state, ...(message && { message }) } } };
}

function chunk(artifactId: string, parts: Part[], append = false): StreamResponse {
  return { artifactUpdate: { ...THEIRS, artifact: { artifactId, parts }, append } };
}

function snapshot(fields: Partial<Task>): StreamResponse {
  const { taskId: id, contextId } = THEIRS;
  return { task: { id, contextId, status: { state: 'TASK_STATE_WORKING' }, ...fields } };
}

/** Returns a short form of events: the state and the text of a status, the Parts of an Artifact. */
function outline(events: readonly TaskEvent[]): unknown[] {
  return events.map((event) => {
    if ('artifactUpdate' in event) {
      const { artifact, append } = event.artifactUpdate;
      return [artifact.artifactId, artifact.parts.map(({ text, raw }) => text ?? raw), append ?? false];
    }
    if ('task' in event) return 'task';
    const { state, message } = event.statusUpdate.status;
    return [state, message?.parts[0]?.text];
  });
}

const [A, B, C] = ['a', 'b', 'c'].map((text) => textPart(text)) as [Part, Part, Part];

it('tells the events of a stream as they are, with the ids of the Task here', () => {
  const mirror = new TaskMirror(OWN, []);
  const [event] = mirror.toEvents(status('TASK_STATE_WORKING', said('m', 'on it')));
  expect(event).toMatchObject({
    statusUpdate: { ...OWN, status: { message: { messageId: 'm', ...OWN, parts: [{ text: 'on it' }] } } },
  });
  expect(JSON.stringify(event)).not.toMatch(/their|other/);
  const update = chunk('x', [A]);
  expect(mirror.toEvents(update)).toEqual([
    { artifactUpdate: { ...OWN, artifact: { artifactId: 'x', parts: [A] }, append: false } },
  ]);
});

it('omits SUBMITTED, with which the Task here has begun', () => {
  const mirror = new TaskMirror(OWN, []);
  expect(mirror.toEvents(status('TASK_STATE_SUBMITTED'))).toEqual([]);
  expect(mirror.toEvents(snapshot({ status: { state: 'TASK_STATE_SUBMITTED' } }))).toEqual([]);
});

it('tells the Messages that an agent sends while its Task works', () => {
  const mirror = new TaskMirror(OWN, []);
  expect(mirror.toEvents({ message: said('direct', 'no Task yet') })).toEqual([]);
  const responses = [
    status('TASK_STATE_WORKING'),
    { message: said('m', 'one ') },
    { message: said('m', 'two') },
    status('TASK_STATE_COMPLETED'),
  ];
  expect(outline(responses.flatMap((response) => mirror.toEvents(response)))).toEqual([
    ['TASK_STATE_WORKING', undefined],
    ['TASK_STATE_WORKING', 'one '],
    ['TASK_STATE_WORKING', 'two'],
    ['TASK_STATE_COMPLETED', undefined],
  ]);
  expect(mirror.toEvents({ message: said('late', 'after the end') })).toEqual([]);
});

it('tells of a snapshot only what the log lacks', () => {
  const mirror = new TaskMirror(OWN, []);
  const working = { state: 'TASK_STATE_WORKING' as const, message: said('m1', 'on it') };
  mirror.toEvents({ statusUpdate: { ...THEIRS, status: working } });
  mirror.toEvents(chunk('x', [A]));
  const task = snapshot({
    status: { state: 'TASK_STATE_COMPLETED', message: said('m3', 'done') },
    history: [said('m1', 'on it'), said('m2', 'half'), said('m3', 'done')],
    artifacts: [
      { artifactId: 'x', parts: [A, B] },
      { artifactId: 'y', parts: [C] },
    ],
  });
  expect(outline(mirror.toEvents(task))).toEqual([
    ['TASK_STATE_WORKING', 'half'],
    ['x', ['b'], true],
    ['y', ['c'], false],
    ['TASK_STATE_COMPLETED', 'done'],
  ]);
  expect(mirror.toEvents(task)).toEqual([]);
});

it('replaces an Artifact that does not continue the told one', () => {
  const mirror = new TaskMirror(OWN, []);
  mirror.toEvents(chunk('x', [A]));
  mirror.toEvents(chunk('x', [B], true));
  expect(outline(mirror.toEvents(snapshot({ artifacts: [{ artifactId: 'x', parts: [A, C] }] })))).toEqual([
    ['TASK_STATE_WORKING', undefined],
    ['x', ['a', 'c'], false],
  ]);
  const renamed = snapshot({ artifacts: [{ artifactId: 'x', name: 'new', parts: [A, C] }] });
  expect(outline(mirror.toEvents(renamed))).toEqual([['x', ['a', 'c'], false]]);
});

it('knows what an earlier execution told, even if its bytes are stored as files', () => {
  const bytes = Buffer.from('bytes').toString('base64');
  const sha256 = createHash('sha256').update('bytes').digest('hex');
  const file = { id: 'f', size: 5, sha256 };
  const stored: Part = { url: 'http://here/api/files/f', mediaType: 'image/png', metadata: { 'parley/file': file } };
  const mirror = new TaskMirror(OWN, [chunk('x', [stored]) as TaskEvent]);
  const part = { raw: bytes, mediaType: 'image/png' };
  const task = snapshot({ artifacts: [{ artifactId: 'x', parts: [part, A] }] });
  expect(outline(mirror.toEvents(task))).toEqual([
    ['TASK_STATE_WORKING', undefined],
    ['x', ['a'], true],
  ]);
});

it('tells no bare WORKING twice after a follow-up, and no question of the turn before', () => {
  const asked = { ...OWN, status: { state: 'TASK_STATE_INPUT_REQUIRED' as const, message: said('q', 'which?') } };
  const answered = { ...OWN, status: { state: 'TASK_STATE_WORKING' as const } };
  const received = { messageId: 'u', role: 'ROLE_USER' as const, parts: [A] };
  const mirror = new TaskMirror(OWN, [{ statusUpdate: asked }, { statusUpdate: answered, received }]);
  expect(mirror.toEvents(snapshot({ status: asked.status }))).toEqual([]);
  expect(mirror.toEvents(status('TASK_STATE_WORKING'))).toEqual([]);
  expect(outline(mirror.toEvents(status('TASK_STATE_WORKING')))).toEqual([['TASK_STATE_WORKING', undefined]]);
});

describe("metadata of the agent's Task", () => {
  const metadataOf = (events: readonly TaskEvent[]): unknown[] =>
    events.map((event) => 'statusUpdate' in event && event.statusUpdate.metadata);

  it('comes with the next status, each member once', () => {
    const mirror = new TaskMirror(OWN, []);
    mirror.toEvents(snapshot({ status: { state: 'TASK_STATE_SUBMITTED' }, metadata: { cost: 1 } }));
    expect(metadataOf(mirror.toEvents(status('TASK_STATE_WORKING')))).toEqual([{ cost: 1 }]);
    const ended = { status: { state: 'TASK_STATE_COMPLETED' as const }, metadata: { cost: 1, model: 'm' } };
    expect(metadataOf(mirror.toEvents(snapshot(ended)))).toEqual([{ model: 'm' }]);
  });

  it('is not repeated if an event has it, and adds no event', () => {
    const mirror = new TaskMirror(OWN, []);
    const artifact = { artifactId: 'x', parts: [A] };
    mirror.toEvents({ artifactUpdate: { ...THEIRS, artifact, metadata: { step: 1 } } });
    const events = mirror.toEvents(snapshot({ metadata: { step: 1 }, artifacts: [artifact] }));
    expect(metadataOf(events)).toEqual([undefined]);
    expect(mirror.toEvents(snapshot({ metadata: { step: 2 } }))).toEqual([]);
    const log = [...events, ...mirror.toEvents(status('TASK_STATE_INPUT_REQUIRED'))];
    expect(metadataOf(log)).toEqual([undefined, { step: 2 }]);
    const later = new TaskMirror(OWN, log);
    expect(
      metadataOf(later.toEvents(snapshot({ status: { state: 'TASK_STATE_COMPLETED' }, metadata: { step: 2 } }))),
    ).toEqual([undefined]);
  });
});

it('takes a text with empty metadata for the same text without metadata', () => {
  const mirror = new TaskMirror(OWN, []);
  mirror.toEvents(chunk('x', [A]));
  mirror.toEvents(chunk('x', [{ ...B, metadata: {} }], true));
  const artifacts = [{ artifactId: 'x', parts: [{ ...A, metadata: {} }, B, C] }];
  const rest = outline(mirror.toEvents(snapshot({ artifacts })));
  expect(rest).toEqual([
    ['TASK_STATE_WORKING', undefined],
    ['x', ['c'], true],
  ]);
});

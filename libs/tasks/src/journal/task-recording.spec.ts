import { statusUpdate, submittedTask, textPart, userMessage } from '#libs/protocol';
import type { Facts } from '#libs/service';
import type { TaskEvent } from '../fold/task-event.js';
import { LONG_LOG, MOST_SNAPSHOT_BYTES, TaskFold } from '../fold/task-fold.js';
import { TaskFacts } from '../task-metrics.js';
import { TaskRecording } from './task-recording.js';

const REFERENCE = { taskId: 't', contextId: 'c' };
const SCOPE = { tenant: '', owner: '', agent: 'workflows/w' };
const BEGINNING = {
  createdAt: new Date(0),
  updatedAt: new Date(0),
  state: 'TASK_STATE_SUBMITTED',
  lastSequence: 0,
} as const;

const SERVICES = {
  journal: { enqueueEvent: () => undefined },
  inFlight: { addBytes: () => undefined },
  feed: { publishEvents: () => undefined, closeTask: () => undefined, openTask: () => undefined },
  limits: { event: Infinity, artifact: Infinity, log: Infinity },
};

/** Creates a recording, and the list of the bytes of each event that the recording reports to the journal. */
function begun(facts?: TaskFacts): { recording: TaskRecording; bytes: number[] } {
  const bytes: number[] = [];
  const services = {
    ...SERVICES,
    journal: { enqueueEvent: (_source: unknown, of: number) => bytes.push(of) },
    ...(facts && { facts }),
  };
  const header = { ...REFERENCE, ...SCOPE, ...BEGINNING };
  const create = { header, replicaId: 'r' };
  const recording = new TaskRecording(services as never, { header, token: 'k', create });
  recording.recordEvent({ task: submittedTask(REFERENCE, userMessage('hi')) });
  return { recording, bytes };
}

function chunk(text: string): TaskEvent {
  return { artifactUpdate: { ...REFERENCE, artifact: { artifactId: 'a', parts: [textPart(text)] }, append: true } };
}

describe('The snapshot of a Task', () => {
  it('comes with the events that end it after a long log, and counts as they do', () => {
    const { recording, bytes } = begun();
    for (let index = 0; index < LONG_LOG; index += 1) recording.recordEvent(chunk(String(index)));
    expect(recording.drainEntry()?.snapshot).toBeUndefined();
    const end = recording.recordEvent(statusUpdate(REFERENCE, 'TASK_STATE_COMPLETED'));
    const { snapshot } = recording.drainEntry()!;
    const { artifacts, ...task } = recording.toTask();
    expect(JSON.parse(snapshot!.task)).toEqual(task);
    expect(JSON.parse(snapshot!.artifacts!)).toEqual(artifacts);
    expect(bytes.at(-1)).toBe(end.json.length + snapshot!.task.length + snapshot!.artifacts!.length);
  });

  it('comes with the last of them where they are written in two batches', () => {
    const { recording } = begun();
    for (let index = 0; index < LONG_LOG; index += 1) recording.recordEvent(chunk(String(index)));
    recording.recordEvent(statusUpdate(REFERENCE, 'TASK_STATE_COMPLETED'));
    expect(recording.drainEntry(LONG_LOG)?.snapshot).toBeUndefined();
    expect(recording.drainEntry()?.snapshot).toBeDefined();
  });

  it.each([
    ['a short log', 5, 'a', 'TASK_STATE_COMPLETED'],
    ['a very large one', LONG_LOG, 'a'.repeat(MOST_SNAPSHOT_BYTES / LONG_LOG), 'TASK_STATE_COMPLETED'],
    ['one that goes on', LONG_LOG, 'a', 'TASK_STATE_WORKING'],
    ['one that waits', LONG_LOG, 'a', 'TASK_STATE_INPUT_REQUIRED'],
  ] as const)('is not made of %s', (_of, chunks, text, state) => {
    const { recording } = begun();
    for (let index = 0; index < chunks; index += 1) recording.recordEvent(chunk(text));
    recording.recordEvent(statusUpdate(REFERENCE, state));
    expect(recording.drainEntry()?.snapshot).toBeUndefined();
  });
});

describe('What a Task asks', () => {
  const question = { key: 'a', since: new Date(0), body: {} };
  const asking: TaskEvent = { ...statusUpdate(REFERENCE, 'TASK_STATE_INPUT_REQUIRED'), questions: [question] };
  const working = statusUpdate(REFERENCE, 'TASK_STATE_WORKING');

  function resumed(of: { parentTaskId?: string } = {}): TaskRecording {
    const { recording } = begun();
    recording.recordEvent(asking);
    const header = { ...REFERENCE, ...SCOPE, ...BEGINNING, ...of, lastSequence: 2 };
    return new TaskRecording(SERVICES as never, { header, token: 'k', fold: TaskFold.fromTask(recording.toTask()) });
  }

  it('is left as it is while the Task goes on, and is settled by the event by which it waits, is parked or ends', () => {
    const settling = [
      [asking, [question]],
      [statusUpdate(REFERENCE, 'TASK_STATE_INPUT_REQUIRED'), []],
      [{ ...working, parks: new Date(1) }, []],
      [statusUpdate(REFERENCE, 'TASK_STATE_CANCELED'), []],
    ] as const;
    for (const [event, questions] of settling) {
      const recording = resumed();
      recording.recordEvent(working);
      expect(recording.drainEntry()?.asked).toBeUndefined();
      recording.recordEvent(event as TaskEvent);
      expect(recording.drainEntry()?.asked?.questions).toEqual(questions);
    }
  });

  it('costs nothing where nothing can have been asked: by a Task that ends in its first turn, or by a child', () => {
    const { recording } = begun();
    recording.recordEvent(statusUpdate(REFERENCE, 'TASK_STATE_COMPLETED'));
    expect(recording.drainEntry()?.asked).toBeUndefined();
    const child = resumed({ parentTaskId: 'p' });
    child.recordEvent(working);
    child.recordEvent(asking);
    expect(child.drainEntry()?.asked).toBeUndefined();
  });
});

describe('A Task whose log is nearly full', () => {
  it('is reported once, by the event with which it passes three quarters of its limit, whoever records that', () => {
    const reported: number[] = [];
    const services = {
      ...SERVICES,
      limits: { ...SERVICES.limits, log: 4_000 },
      nearlyFull: (_header: unknown, bytes: number) => reported.push(bytes),
    };
    const header = { ...REFERENCE, ...SCOPE, ...BEGINNING, lastSequence: 2 };
    const going = (bytes: number): TaskRecording => {
      const fold = TaskFold.fromTask(begun().recording.toTask());
      return new TaskRecording(services as never, { header, token: 'k', fold, bytes });
    };
    const recording = going(2_000);
    recording.recordEvent(chunk('x'.repeat(500)));
    expect([reported, recording.nearlyFull]).toEqual([[], undefined]);
    recording.recordEvent(chunk('x'.repeat(500)));
    recording.recordEvent(chunk('x'));
    expect(reported).toEqual([expect.any(Number)]);
    expect(recording.nearlyFull).toEqual({ bytes: recording.logBytes, limit: 4_000 });
    going(3_100).recordEvent(chunk('x'));
    expect(reported).toHaveLength(1);
  });
});

describe('A Task that is parked', () => {
  const until = new Date('2031-02-03T04:05:06.789Z');
  const parking: TaskEvent = { ...statusUpdate(REFERENCE, 'TASK_STATE_WORKING'), parks: until };

  it('takes no more events, and is woken by a job in the same entry', () => {
    const { recording } = begun();
    const { json } = recording.recordEvent(parking);
    expect(recording.settled).toBe(true);
    expect(recording.claims).toBe(false);
    expect(() => recording.recordEvent(chunk('a'))).toThrow('takes no more events');
    const { wakeAt, jobs, state } = recording.drainEntry()!;
    expect({ wakeAt, state }).toEqual({ wakeAt: until, state: 'TASK_STATE_WORKING' });
    const job = { name: 'tasks.wake', payload: { taskId: 't' }, key: 'tasks.wake/t', runAt: until };
    expect(jobs).toEqual([{ ...job, caller: { tenant: '', owner: '' } }]);
    expect(json).not.toContain('2031');
  });

  it('is parked by the entry that ends with the event, where a batch holds only what came before', () => {
    const { recording } = begun();
    recording.recordEvent(chunk('a'));
    recording.recordEvent(parking);
    const first = recording.drainEntry(2)!;
    expect(first.wakeAt).toBeUndefined();
    expect(first.jobs).toBeUndefined();
    expect(recording.drainEntry()).toMatchObject({ wakeAt: until, jobs: [{ runAt: until }] });
  });

  it('leaves no job behind, also where the process that went on with it has died before that was over', () => {
    const header = { ...REFERENCE, ...SCOPE, ...BEGINNING, state: 'TASK_STATE_WORKING', lastSequence: 4 } as const;
    const jobsAfter = (waited: boolean): unknown => {
      const fold = TaskFold.fromTask({ id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } });
      const recording = new TaskRecording(SERVICES as never, { header, token: 'k', fold, waited });
      recording.recordEvent(statusUpdate(REFERENCE, 'TASK_STATE_COMPLETED'));
      return recording.drainEntry()?.jobs?.map(({ key }) => key);
    };
    expect(jobsAfter(true)).toEqual(['tasks.wake/t']);
    expect(jobsAfter(false)).toBeUndefined();
  });

  it('has ended where the event says so, whatever else it says', () => {
    const { recording } = begun();
    recording.recordEvent({ ...statusUpdate(REFERENCE, 'TASK_STATE_FAILED'), parks: until });
    const { wakeAt, jobs } = recording.drainEntry()!;
    expect({ wakeAt, jobs }).toEqual({});
  });
});

describe('What a Task comes to', () => {
  function reporting(): { recording: TaskRecording; reported: unknown[] } {
    const reported: unknown[] = [];
    const facts = new TaskFacts({ emit: (...fact: unknown[]) => reported.push(fact) } as unknown as Facts);
    return { recording: begun(facts).recording, reported };
  }

  it.each([
    ['TASK_STATE_COMPLETED', 'task.settled'],
    ['TASK_STATE_FAILED', 'task.settled'],
    ['TASK_STATE_INPUT_REQUIRED', 'question.asked'],
    ['TASK_STATE_AUTH_REQUIRED', 'question.asked'],
  ] as const)('is reported once, when %s is durable', (state, name) => {
    const { recording, reported } = reporting();
    recording.settleEntry(recording.drainEntry()!, 'written');
    recording.recordEvent(statusUpdate(REFERENCE, state));
    const entry = recording.drainEntry()!;
    expect(reported).toEqual([]);
    recording.settleEntry(entry, 'written');
    expect(reported).toEqual([[name, expect.objectContaining({ ...REFERENCE, state })]]);
  });

  it('is not reported by who has lost the Task', () => {
    const { recording, reported } = reporting();
    recording.recordEvent(statusUpdate(REFERENCE, 'TASK_STATE_COMPLETED'));
    recording.settleEntry(recording.drainEntry()!, 'fenced');
    expect(reported).toEqual([]);
  });
});

describe('A Task whose claim is lost', () => {
  it('is left to its next writer, also where what was under way came through after all', () => {
    const reported: string[] = [];
    const feed = {
      publishEvents: () => reported.push('published'),
      closeTask: (taskId: string) => reported.push(`lost ${taskId}`),
    };
    const header = { ...REFERENCE, ...SCOPE, ...BEGINNING };
    const recording = new TaskRecording({ ...SERVICES, feed } as never, { header, token: 'k' });
    recording.recordEvent({ task: submittedTask(REFERENCE, userMessage('hi')) });
    const entry = recording.drainEntry()!;
    recording.abandonTask();
    recording.settleEntry(entry, 'written');
    expect(reported).toEqual(['lost t', 'published', 'lost t']);
  });
});

describe('A Task as it stands', () => {
  const header = { ...REFERENCE, ...SCOPE, ...BEGINNING };

  it('is known as long as nothing of it is under way, and this process writes it', () => {
    const recording = new TaskRecording(SERVICES as never, { header, token: 'k' });
    recording.recordEvent({ task: submittedTask(REFERENCE, userMessage('hi')) });
    recording.settleEntry(recording.drainEntry()!, 'written');
    recording.recordEvent(statusUpdate(REFERENCE, 'TASK_STATE_WORKING'));
    expect(recording.standing).toBeUndefined();
    recording.settleEntry(recording.drainEntry()!, 'written');
    const { task } = recording.standing!;
    expect(recording.standing!.header).toMatchObject({ taskId: 't', state: 'TASK_STATE_WORKING', lastSequence: 2 });
    expect(task.status.state).toBe('TASK_STATE_WORKING');
    recording.abandonTask();
    expect(recording.standing).toBeUndefined();
  });

  it('is told to those who follow it by who takes it up, as far as its log goes', () => {
    const begun: unknown[] = [];
    const feed = { ...SERVICES.feed, openTask: (...reported: unknown[]) => begun.push(reported) };
    const fold = TaskFold.beginTask({ task: submittedTask(REFERENCE, userMessage('hi')) });
    const start = { header: { ...header, lastSequence: 3 }, token: 'k', fold };
    expect(new TaskRecording({ ...SERVICES, feed } as never, start).standing).toMatchObject({ task: { id: 't' } });
    expect(begun).toEqual([]);
    expect(new TaskRecording({ ...SERVICES, feed } as never, { ...start, atWork: true }).lastSequence).toBe(3);
    expect(begun).toEqual([['t', 3]]);
  });
});

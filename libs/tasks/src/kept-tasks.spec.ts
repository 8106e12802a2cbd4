import { KeptTasks } from './kept-tasks.js';
import { toStreamResponse } from './task-event.js';
import type { RecordedEvent, TaskEvent } from './task-event.js';
import { TaskFold } from './task-fold.js';
import type { TaskHeader } from './task-store.js';

const IDS = { taskId: 't', contextId: 'c' };
const LONG = 100_000;

function status(state: 'TASK_STATE_WORKING' | 'TASK_STATE_INPUT_REQUIRED', text: string): TaskEvent {
  const message = { messageId: text, role: 'ROLE_AGENT' as const, parts: [{ text }] };
  return { statusUpdate: { ...IDS, status: { state, message, timestamp: '2026-01-01T00:00:00.000Z' } } };
}

/** A log that begins with a Task and asks; it grows by a turn for each question more. */
class Log {
  readonly events: TaskEvent[] = [
    { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' } } },
    status('TASK_STATE_INPUT_REQUIRED', 'first?'),
  ];
  readonly reads: number[] = [];
  readonly tasks = new KeptTasks(async (_taskId, after, limit) => {
    const read = this.recorded().slice(after, after + limit);
    this.reads.push(read.length);
    return read;
  });

  ask(text: string): void {
    this.events.push(status('TASK_STATE_WORKING', `before ${text}`), status('TASK_STATE_INPUT_REQUIRED', text));
  }

  header(state = 'TASK_STATE_INPUT_REQUIRED'): TaskHeader {
    return { ...IDS, tenant: '', state, lastSequence: this.events.length } as TaskHeader;
  }

  task() {
    const [first, ...later] = this.events;
    const fold = TaskFold.begin(first!);
    for (const event of later) fold.apply(event);
    return fold.task();
  }

  keep(bytes: number, header = this.header()): Promise<void> {
    return this.tasks.keep({ header, task: this.task(), bytes });
  }

  private recorded(): RecordedEvent[] {
    return this.events.map((event, index) => {
      return { taskId: 't', sequence: index + 1, event, json: JSON.stringify(toStreamResponse(event)) };
    });
  }
}

describe('Tasks that wait, as they were folded last', () => {
  it('are folded forward by what is new, again and again', async () => {
    const log = new Log();
    await log.keep(LONG);
    for (const question of ['second?', 'third?', 'fourth?']) {
      log.ask(question);
      log.reads.length = 0;
      const forward = await log.tasks.forward(log.header(), 1000);
      expect(forward?.task).toEqual(log.task());
      expect(forward?.bytes).toBeGreaterThan(LONG);
      expect(log.reads).toEqual([3]);
    }
  });

  it('are what they were where nothing is new', async () => {
    const log = new Log();
    await log.keep(LONG);
    expect((await log.tasks.forward(log.header(), 1000))?.task).toEqual(log.task());
  });

  it('give out what later turns do not change', async () => {
    const log = new Log();
    await log.keep(LONG);
    log.ask('second?');
    const before = await log.tasks.forward(log.header(), 1000);
    const text = JSON.stringify(before);
    log.ask('third?');
    await log.tasks.forward(log.header(), 1000);
    expect(JSON.stringify(before)).toBe(text);
  });

  it.each<[string, (log: Log) => Promise<TaskHeader> | TaskHeader]>([
    [
      'another server has another event at their place',
      (log) => {
        log.events[1] = status('TASK_STATE_INPUT_REQUIRED', 'another?');
        log.ask('second?');
        return log.header();
      },
    ],
    ['the log ends before their place', (log) => ({ ...log.header(), lastSequence: 1 })],
    [
      'the Task was purged',
      (log) => {
        log.events.length = 0;
        return { ...log.header(), lastSequence: 2 };
      },
    ],
    [
      'more is new than is read at once',
      (log) => {
        for (let turn = 0; turn < 5; turn += 1) log.ask(`${turn}?`);
        return log.header();
      },
    ],
    [
      'they were dropped',
      (log) => {
        log.tasks.drop('t');
        return log.header();
      },
    ],
  ])('are not used where %s', async (_why, change) => {
    const log = new Log();
    await log.keep(LONG);
    expect(await log.tasks.forward(await change(log), 10)).toBeUndefined();
  });

  it.each([
    ['that is at work', LONG, 'TASK_STATE_WORKING'],
    ['with a short log', 100, 'TASK_STATE_INPUT_REQUIRED'],
  ])('are none %s', async (_which, bytes, state) => {
    const log = new Log();
    await log.keep(bytes, log.header(state));
    expect(await log.tasks.forward(log.header(), 1000)).toBeUndefined();
  });
});

import type { TaskHeader } from '../store/task-store.js';
import { FoldMemory, KeptFolds, KeptTasks } from './fold-memory.js';
import { type RecordedEvent, type TaskEvent, toStreamResponse } from './task-event.js';
import { TaskFold } from './task-fold.js';

const IDS = { taskId: 't', contextId: 'c' };
const LONG = 100_000;
const LISTS = Array.from({ length: 1_000 }, () => []);

function status(state: 'TASK_STATE_WORKING' | 'TASK_STATE_INPUT_REQUIRED', text: string): TaskEvent {
  const message = { messageId: text, role: 'ROLE_AGENT' as const, parts: [{ text }] };
  return { statusUpdate: { ...IDS, status: { state, message, timestamp: '2026-01-01T00:00:00.000Z' } } };
}

/** Log of a Task that asks a question. Each further question adds a turn to it. */
class Log {
  readonly events: TaskEvent[] = [
    { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' } } },
    status('TASK_STATE_INPUT_REQUIRED', 'first?'),
  ];
  readonly reads: number[] = [];
  readonly memory = new FoldMemory();
  readonly tasks = new KeptTasks(async (_taskId, after, limit) => {
    const read = this.recorded().slice(after, after + limit);
    this.reads.push(read.length);
    return read;
  }, new KeptFolds(this.memory));

  ask(text: string): void {
    this.events.push(status('TASK_STATE_WORKING', `before ${text}`), status('TASK_STATE_INPUT_REQUIRED', text));
  }

  /** Asks a question with a thousand empty lists: 2,000 bytes of JSON, and at least 40,000 bytes on the heap. */
  askData(): void {
    const event = status('TASK_STATE_INPUT_REQUIRED', 'data?');
    if ('statusUpdate' in event) event.statusUpdate.status.message!.parts.push({ data: LISTS });
    this.events.push(status('TASK_STATE_WORKING', 'before data?'), event);
  }

  /** Receives an answer of the same size as the question, and asks another question. */
  receive(): void {
    const received = { messageId: 'answer', role: 'ROLE_USER' as const, parts: [{ data: LISTS }] };
    this.events.push({ ...status('TASK_STATE_WORKING', 'thanks'), received } as TaskEvent);
    this.ask('more?');
  }

  header(state = 'TASK_STATE_INPUT_REQUIRED'): TaskHeader {
    return { ...IDS, tenant: '', owner: '', state, lastSequence: this.events.length } as TaskHeader;
  }

  task() {
    const [first, ...later] = this.events;
    const fold = TaskFold.beginTask(first!);
    for (const event of later) fold.applyEvent(event);
    return fold.toTask();
  }

  keep(bytes: number, header = this.header()): Promise<void> {
    return this.tasks.keepTask({ header, task: this.task(), bytes });
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
      const forward = await log.tasks.foldForward(log.header());
      expect(forward?.task).toEqual(log.task());
      expect(forward?.bytes).toBeGreaterThan(LONG);
      expect(log.reads).toEqual([3]);
    }
  });

  it('are what they were where nothing is new', async () => {
    const log = new Log();
    await log.keep(LONG);
    expect((await log.tasks.foldForward(log.header()))?.task).toEqual(log.task());
  });

  it('are folded forward page by page, by the bytes of what is new and not by the number of its events', async () => {
    const log = new Log();
    await log.keep(LONG);
    for (let turn = 0; turn < 10; turn += 1) log.ask(`${turn} ${'?'.repeat(LONG)}`);
    log.reads.length = 0;
    const header = { ...log.header(), size: { log: LONG + 20 * LONG, artifacts: 0 } };
    expect((await log.tasks.foldForward(header))?.task).toEqual(log.task());
    // Each read has ten events of a megabyte, and the event before them, by which their place is verified.
    expect(log.reads).toEqual([11, 11]);
    log.ask('x'.repeat(2_000_000));
    log.reads.length = 0;
    const one = { ...log.header(), size: { log: 30 * LONG + 4_000_000, artifacts: 0 } };
    expect((await log.tasks.foldForward(one))?.task).toEqual(log.task());
    expect(log.reads).toEqual([2, 2]);
  });

  it('weigh what their data members take, from the first fold on and with each turn', async () => {
    const log = new Log();
    log.askData();
    await log.keep(LONG);
    const before = log.memory.weight;
    expect(before).toBeGreaterThan(40_000);
    log.askData();
    await log.tasks.foldForward(log.header());
    expect(log.memory.weight - before).toBeGreaterThan(40_000);
    log.receive();
    await log.tasks.foldForward(log.header());
    expect(log.memory.weight - before).toBeGreaterThan(80_000);
  });

  it('are forgotten with the Tasks that are purged', async () => {
    const log = new Log();
    await log.keep(LONG);
    log.memory.forgetTasks(['another', 't']);
    expect(log.memory.weight).toBe(0);
    expect(await log.tasks.foldForward(log.header())).toBeUndefined();
  });

  it('give out what later turns do not change', async () => {
    const log = new Log();
    await log.keep(LONG);
    log.ask('second?');
    const before = await log.tasks.foldForward(log.header());
    const text = JSON.stringify(before);
    log.ask('third?');
    await log.tasks.foldForward(log.header());
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
      'they were dropped',
      (log) => {
        log.tasks.dropTask('t');
        return log.header();
      },
    ],
  ])('are not used where %s', async (_why, change) => {
    const log = new Log();
    await log.keep(LONG);
    expect(await log.tasks.foldForward(await change(log))).toBeUndefined();
  });

  it.each([
    ['that is at work', LONG, 'TASK_STATE_WORKING'],
    ['with a short log', 100, 'TASK_STATE_INPUT_REQUIRED'],
  ])('are none %s', async (_which, bytes, state) => {
    const log = new Log();
    await log.keep(bytes, log.header(state));
    expect(await log.tasks.foldForward(log.header())).toBeUndefined();
  });
});

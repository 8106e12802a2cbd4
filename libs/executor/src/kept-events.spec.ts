import { setTimeout as delay } from 'node:timers/promises';
import { AgentExecutor, type HeldParts, PartKeeper, type PartRestorer, type RequestContext } from '#libs/agents';
import { artifactUpdate, type Part, statusUpdate, userMessage } from '#libs/protocol';
import type { TaskEvent, TaskRecording } from '#libs/tasks';
import { TaskExecution } from './task-execution.js';

const TASK = { taskId: 't', contextId: 'c' };
const RAW: Part = { raw: 'AAAA' };
const KEPT: Part = { url: 'kept' };

/** Fake PartKeeper that stores every `raw` Part once the promise `may` has resolved. */
class FakeKeeper extends PartKeeper {
  stored = 0;
  may: Promise<void> = Promise.resolve();

  override concernsParts(parts: readonly Part[]): boolean {
    return parts.some(({ raw }) => raw !== undefined);
  }

  override async keepParts(parts: readonly Part[]): Promise<Part[]> {
    this.stored += parts.filter(({ raw }) => raw !== undefined).length;
    await this.may;
    return parts.map((part) => (part.raw === undefined ? part : KEPT));
  }

  /** Number of open restorers. */
  restorers = 0;

  override restorer(): PartRestorer {
    this.restorers += 1;
    return { restoreParts: async (parts) => [...parts], [Symbol.dispose]: () => (this.restorers -= 1) };
  }

  override async holdParts(parts: readonly Part[]): Promise<HeldParts> {
    return { parts: [...parts], [Symbol.dispose]: () => undefined };
  }
}

/** Executor that answers with a file, both in an Artifact and in its last status. */
class Answering extends AgentExecutor {
  constructor(private readonly keeps: boolean) {
    super();
  }

  override get keepsBytes(): boolean {
    return this.keeps;
  }

  override async *execute(): AsyncGenerator<TaskEvent> {
    const parts = [{ text: 'x' }, { ...RAW }];
    yield statusUpdate(TASK, 'TASK_STATE_WORKING');
    yield artifactUpdate(TASK, { artifactId: 'a', parts });
    yield statusUpdate(TASK, 'TASK_STATE_COMPLETED', parts);
  }
}

/** Fake recording in memory. It accepts events until one of them ends the Task. */
class MemoryRecording {
  readonly taskId = TASK.taskId;
  readonly contextId = TASK.contextId;
  readonly lastSequence = 1;
  readonly backlog = 0;
  readonly backlogBytes = 0;
  settled = false;
  readonly events: TaskEvent[] = [];

  toTask = (): object => ({});
  flushEvents = async (): Promise<void> => undefined;
  whenSettled = async (): Promise<void> => undefined;

  recordEvent(event: TaskEvent): object {
    if (this.settled) throw new Error('The Task has ended');
    this.events.push(event);
    this.settled = 'statusUpdate' in event && event.statusUpdate.status.state !== 'TASK_STATE_WORKING';
    return { event };
  }

  get states(): (string | undefined)[] {
    return this.events.map((event) => ('statusUpdate' in event ? event.statusUpdate.status.state : undefined));
  }
}

function executionOf(recording: MemoryRecording, keeper: PartKeeper, executor: AgentExecutor): TaskExecution {
  return new TaskExecution({
    executor,
    recording: recording as unknown as TaskRecording,
    call: { scope: { tenant: '', owner: '' }, agent: 'a', extensions: [], baseUrl: '' },
    userMessage: userMessage('x'),
    metadata: undefined,
    task: null,
    recovered: 0,
    acceptance: {} as never,
    readEvents: async () => [],
    confirm: async () => undefined,
    keeper,
  });
}

describe('large Parts that an agent answers with', () => {
  it('are kept once for all events that have them, before the events are recorded', async () => {
    const [recording, keeper] = [new MemoryRecording(), new FakeKeeper()];
    await executionOf(recording, keeper, new Answering(false)).runToEnd();
    const said = recording.events.map((event) => JSON.stringify(event));
    expect(said.filter((it) => it.includes('"url":"kept"')).length).toBe(2);
    expect(said.join()).not.toContain('AAAA');
    expect(keeper.stored).toBe(1);
  });

  it('stay in the log of an agent that reads them there', async () => {
    const [recording, keeper] = [new MemoryRecording(), new FakeKeeper()];
    await executionOf(recording, keeper, new Answering(true)).runToEnd();
    expect(JSON.stringify(recording.events)).toContain('AAAA');
    expect(keeper.stored).toBe(0);
  });

  it('count no longer than the execution for which they were restored', async () => {
    const [recording, keeper] = [new MemoryRecording(), new FakeKeeper()];
    let opened: RequestContext['partRestorer'];
    class Restoring extends AgentExecutor {
      override async *execute({ partRestorer }: RequestContext): AsyncGenerator<TaskEvent> {
        partRestorer!()[Symbol.dispose]();
        for (let nth = 0; nth < 2; nth += 1) await partRestorer!().restoreParts([RAW]);
        expect(keeper.restorers).toBe(2);
        opened = partRestorer!;
        yield statusUpdate(TASK, 'TASK_STATE_COMPLETED');
      }
    }
    await executionOf(recording, keeper, new Restoring()).runToEnd();
    expect(keeper.restorers).toBe(0);
    // A call that is still in progress may open another restorer.
    opened?.();
    expect(keeper.restorers).toBe(0);
  });

  it('are dropped where the Task is canceled while they are stored', async () => {
    const [recording, keeper] = [new MemoryRecording(), new FakeKeeper()];
    let go = (): void => undefined;
    keeper.may = new Promise((resolve) => (go = resolve));
    const execution = executionOf(recording, keeper, new Answering(false));
    const ended = execution.runToEnd();
    while (keeper.stored === 0) await delay(1);
    await execution.cancelExecution();
    go();
    await ended;
    expect(recording.states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_CANCELED']);
  });
});

import { CallChains, chainMetadata, keptChain, type RequestContext, TaskCanceled } from '#libs/agents';
import {
  isJsonObject,
  type JsonObject,
  type SendMessageRequest,
  statusUpdate,
  submittedTask,
  type TaskState,
  userMessage,
} from '#libs/protocol';
import { ANONYMOUS_SCOPE, applyTaskEvent, type TaskEvent } from '#libs/tasks';
import { DurableExecution, ProcessExecutor, type ProcessStart } from './durable-execution.js';

const REFERENCE = { taskId: 'count-1', contextId: 'context-1' };

/** State of a process that counts: the number that it has reached, and the number that callers have requested. */
class Count {
  counted = 0;
  wanted = 2;

  apply(event: TaskEvent): void {
    if (!('statusUpdate' in event)) return;
    if (event.received) this.wanted += 2;
    if (isJsonObject(event.statusUpdate.metadata)) this.counted += 1;
  }
}

/** Process that counts up to the requested number, and then waits. At four, it ends. */
class Counting extends DurableExecution<Count> {
  protected override readonly calls = { abort: () => this.options.onClose?.() };

  constructor(
    context: RequestContext,
    state: Count,
    private readonly options: CountingOptions,
  ) {
    super(context, state);
  }

  protected override next() {
    const { counted, wanted } = this.state;
    if (counted < wanted) return this.count();
    return [this.ended(counted < 4 ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_COMPLETED')];
  }

  protected override *endCanceled() {
    yield this.recordMetadata({ stopped: true });
    yield this.ended('TASK_STATE_CANCELED');
  }

  protected override endFailed(error: unknown) {
    return this.options.forgives ? [this.ended('TASK_STATE_COMPLETED')] : super.endFailed(error);
  }

  private async *count() {
    await this.options.work?.(this.state.counted);
    yield this.recordMetadata({ counted: this.state.counted + 1 });
  }

  private ended(state: TaskState): TaskEvent {
    return this.recordEvent(statusUpdate(this.context, state));
  }
}

interface CountingOptions {
  /** Called before each increment. */
  work?: (counted: number) => Promise<void> | void;
  forgives?: boolean;
  onClose?: () => void;
}

class CountingExecutor extends ProcessExecutor {
  readonly starts: ProcessStart[] = [];

  constructor(private readonly options: CountingOptions) {
    super();
  }

  protected override describeRequest({ message }: SendMessageRequest): JsonObject {
    return { about: message.messageId };
  }

  protected override beginProcess(start: ProcessStart): Counting {
    this.starts.push(start);
    const state = new Count();
    for (const event of start.log) state.apply(event);
    return new Counting(start.context, state, this.options);
  }
}

/** Runs the executions of one process over a log in memory. */
class Driven {
  readonly log: TaskEvent[];
  readonly executor: CountingExecutor;
  private readonly controller = new AbortController();

  constructor(options: CountingOptions = {}, log: readonly TaskEvent[] = [BEGUN]) {
    this.log = [...log];
    this.executor = new CountingExecutor(options);
  }

  get state(): TaskState | undefined {
    return this.log.reduce<ReturnType<typeof applyTaskEvent> | undefined>(applyTaskEvent, undefined)?.status.state;
  }

  async run(): Promise<TaskEvent[]> {
    const { signal } = this.controller;
    const before = this.log.length;
    const context = {
      ...REFERENCE,
      call: { scope: ANONYMOUS_SCOPE, agent: 'counts', extensions: [], baseUrl: 'http://own' },
      signal,
      readTaskLog: async () => [...this.log],
    } as unknown as RequestContext;
    for await (const event of this.executor.execute(context)) this.log.push(event);
    return this.log.slice(before);
  }

  stop(reason: Error): void {
    this.controller.abort(reason);
  }
}

const CALL_CHAINS = new CallChains(Buffer.from('a secret')).extendChain([], {
  task: 'run-1',
  caller: 'w',
  callee: 'counts',
});
const REQUEST = { message: userMessage('count', { messageId: 'm-1', metadata: chainMetadata(CALL_CHAINS) }) };
const BEGUN: TaskEvent = {
  task: submittedTask(
    REFERENCE,
    REQUEST.message,
    new CountingExecutor({}).taskMetadata(REQUEST, { scope: ANONYMOUS_SCOPE }),
  ),
};
const GO_ON: TaskEvent = { ...statusUpdate(REFERENCE, 'TASK_STATE_WORKING'), received: userMessage('go on') };

const outline = (log: readonly TaskEvent[]) =>
  log.map((event) => ('statusUpdate' in event ? [event.statusUpdate.status.state, event.statusUpdate.metadata] : []));

describe('Process', () => {
  it('does one thing after the other until it waits, and goes on with the next Message until it ends', async () => {
    const first = new Driven();
    await first.run();
    expect(first.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const second = new Driven({}, [...first.log, GO_ON]);
    expect(outline(await second.run())).toEqual([
      ['TASK_STATE_WORKING', { counted: 3 }],
      ['TASK_STATE_WORKING', { counted: 4 }],
      ['TASK_STATE_COMPLETED', undefined],
    ]);
  });

  it('comes to the same log from every beginning of it', async () => {
    const whole = new Driven({}, [BEGUN, GO_ON]);
    await whole.run();
    for (let cut = 2; cut < whole.log.length; cut += 1) {
      const rest = new Driven({}, whole.log.slice(0, cut));
      await rest.run();
      expect(outline(rest.log)).toEqual(outline(whole.log));
    }
  });

  it('is told what it is about and which calls led to it, from the log', async () => {
    const driven = new Driven();
    await driven.run();
    expect(driven.executor.starts[0]?.links).toEqual(CALL_CHAINS);
    const [first] = driven.log;
    const metadata = first && 'task' in first ? first.task.metadata : undefined;
    expect(metadata).toMatchObject({ about: 'm-1' });
    expect(keptChain(metadata)).toEqual(CALL_CHAINS);
  });

  it('ends as its caller wished when it is canceled, at work or from the start', async () => {
    const atWork = new Driven({ work: (counted) => void (counted === 1 && atWork.stop(new TaskCanceled())) });
    await atWork.run();
    const stopped = [
      ['TASK_STATE_WORKING', { stopped: true }],
      ['TASK_STATE_CANCELED', undefined],
    ];
    expect(outline(atWork.log).slice(-2)).toEqual(stopped);
    const waiting = new Driven();
    waiting.stop(new TaskCanceled());
    expect(outline(await waiting.run())).toEqual(stopped);
  });

  it('records nothing when it is interrupted, whatever its work throws then', async () => {
    const driven = new Driven({
      forgives: true,
      work: () => {
        driven.stop(new Error('This process stops'));
        throw new Error('cut');
      },
    });
    await expect(driven.run()).rejects.toThrow('cut');
    expect(driven.log).toEqual([BEGUN]);
  });

  it('throws a fault of ours, unless the process has a word for it', async () => {
    const work = () => {
      throw new Error('a fault');
    };
    await expect(new Driven({ work }).run()).rejects.toThrow('a fault');
    const forgiving = new Driven({ work, forgives: true });
    await forgiving.run();
    expect(forgiving.state).toBe('TASK_STATE_COMPLETED');
  });

  it('closes its connections at the end of every execution, also of one that nobody reads to its end', async () => {
    const closed: string[] = [];
    await new Driven({ onClose: () => closed.push('waiting') }).run();
    const failing = { onClose: () => closed.push('failed'), work: () => Promise.reject(new Error('a fault')) };
    await expect(new Driven(failing).run()).rejects.toThrow('a fault');
    const left = new Driven({ onClose: () => closed.push('left') });
    const context = { ...REFERENCE, signal: new AbortController().signal, readTaskLog: async () => left.log };
    for await (const _event of left.executor.execute(context as unknown as RequestContext)) break;
    expect(closed).toEqual(['waiting', 'failed', 'left']);
  });
});

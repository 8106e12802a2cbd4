import { type AgentExecutor, ExecutionInterrupted, type RequestContext, TaskCanceled } from '#libs/agents';
import { type Message, statusUpdate, submittedTask, type Task, userMessage } from '#libs/protocol';
import { type TaskEvent, TaskFold } from '#libs/tasks';
import { turn } from './turn.js';

const TASK = { taskId: 'task', contextId: 'context' };

/** Error that simulates the crash of a process. */
class Killed extends Error {}

/** Task whose executor is run, killed and run again, as if by several processes. `log` has the durable events. */
export class TaskDriver {
  readonly log: TaskEvent[];
  private acceptedAt = 1;
  /** Task before the Message of this turn; `null` in the first turn. */
  private before: Task | null = null;
  private message: Message;
  private readonly canceling = new AbortController();

  constructor(
    private readonly executor: AgentExecutor,
    text: string | Message = 'go',
    private readonly more: Partial<RequestContext> = {},
  ) {
    this.message = typeof text === 'string' ? userMessage(text, { messageId: 'm1' }) : text;
    this.log = [{ task: submittedTask(TASK, this.message) }];
  }

  get task(): Task {
    const [first, ...rest] = this.log;
    const fold = TaskFold.beginTask(first!);
    for (const event of rest) fold.applyEvent(event);
    return fold.toTask();
  }

  get state(): string {
    return this.task.status.state.replace('TASK_STATE_', '').toLowerCase();
  }

  /**
   * Executes the turn until it ends, from its beginning or after a crash.
   * @param killAfter number of durable events after which the process crashes; later events are lost
   * @param lazy true if events become durable only at `flush` or at the end
   */
  async run(killAfter = Infinity, lazy = false): Promise<void> {
    const recovered = this.log.length - this.acceptedAt;
    const pending: TaskEvent[] = [];
    const dying = new AbortController();
    let isRefused = false;
    const settle = (): void => {
      while (pending.length > 0) {
        if (this.log.length >= killAfter) {
          dying.abort(new ExecutionInterrupted('The process dies'));
          throw new Killed();
        }
        isRefused = true;
        this.log.push(pending.shift()!);
        isRefused = false;
      }
    };
    const context: RequestContext = turn(this.message, {
      task: this.before,
      signal: AbortSignal.any([this.canceling.signal, dying.signal]),
      recovered,
      readTaskLog: async () => structuredClone(this.log),
      flush: async () => settle(),
      isRefused: () => isRefused,
      ...this.more,
    });
    try {
      for await (const event of this.executor.execute(context)) {
        pending.push(structuredClone(event));
        if (!lazy) settle();
      }
      settle();
    } catch (error) {
      if (!(error instanceof Killed) && error !== dying.signal.reason) throw error;
    }
  }

  /** Cancels the Task, for the execution in progress and for later ones. */
  cancel(): void {
    this.canceling.abort(new TaskCanceled());
  }

  /** Replaces the Message that begins the Task, before the first execution. */
  begin(message: Message): void {
    this.message = message;
    this.log.splice(0, 1, { task: submittedTask(TASK, message) });
  }

  /** Creates a Message with the content, and receives it as the answer to the question of the Task. */
  answer(content: string | Message['parts']): void {
    this.receive(userMessage(content, { messageId: `m${this.log.length}` }));
  }

  /** Receives a Message as the answer to the question of the Task. */
  receive(message: Message): void {
    this.before = this.task;
    this.message = message;
    this.log.push({ ...statusUpdate(TASK, 'TASK_STATE_WORKING'), received: this.message });
    this.acceptedAt = this.log.length;
  }
}

import { type AgentExecutor, ExecutionInterrupted, type RequestContext, TaskCanceled } from '#libs/executor';
import { type Message, statusUpdate, submittedTask, type Task, userMessage } from '#libs/protocol';
import { type TaskEvent, TaskFold } from '#libs/tasks';
import { turn } from './turn.js';

const TASK = { taskId: 'task', contextId: 'context' };

/** A process that dies: nothing that the executor does after it is told of. */
class Killed extends Error {}

/** A Task whose executor is run, killed, and run again, as processes do it: what is durable is `log`. */
export class TaskDriver {
  readonly log: TaskEvent[];
  private acceptedAt = 1;
  /** The Task before the Message of this turn. */
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
   * Executes the turn, from its beginning or from where it was killed, until it ends.
   * @param killAfter dies when so many events are durable; what is recorded later is lost
   * @param lazy whether only what the executor waits for becomes durable before its end
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

  /** Cancels the Task: whatever runs, or is run then, hears of it. */
  cancel(): void {
    this.canceling.abort(new TaskCanceled());
  }

  /** Begins the Task with this Message instead, before anything has run. */
  begin(message: Message): void {
    this.message = message;
    this.log.splice(0, 1, { task: submittedTask(TASK, message) });
  }

  /** Takes a Message in, as the follow-up to what the Task asks. */
  answer(content: string | Message['parts']): void {
    this.receive(userMessage(content, { messageId: `m${this.log.length}` }));
  }

  /** Takes in this very Message, as the follow-up to what the Task asks. */
  receive(message: Message): void {
    this.before = this.task;
    this.message = message;
    this.log.push({ ...statusUpdate(TASK, 'TASK_STATE_WORKING'), received: this.message });
    this.acceptedAt = this.log.length;
  }
}

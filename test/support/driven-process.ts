import { type AgentExecutor, type RequestContext, TaskCanceled } from '#libs/agents';
import { type JsonObject, type Message, statusUpdate, submittedTask, type Task, type TaskState } from '#libs/protocol';
import { ANONYMOUS_SCOPE, applyTaskEvent, type TaskEvent, type TaskHeader } from '#libs/tasks';

/** Runs a durable process as ExecutionRegistry does, with a log in memory. */
export abstract class DrivenProcess {
  readonly log: TaskEvent[] = [];
  /** Child Tasks that agents of this service have created for the process. */
  readonly children: Pick<TaskHeader, 'taskId' | 'parentReference'>[] = [];
  /** Number of times that the executor has waited for events to be durable. */
  durable = 0;
  /** Called with each event before it is logged. If this function throws, the log refuses the event. */
  onEvent: (event: TaskEvent) => void = () => undefined;
  private isRefused = false;
  private readonly reference: { taskId: string; contextId: string };
  private readonly controller = new AbortController();

  /** @param agent path of the agent to which the Task belongs */
  constructor(
    private readonly agent: string,
    taskId: string,
  ) {
    this.reference = { taskId, contextId: 'context-1' };
  }

  /** Creates the executor of one execution. */
  protected abstract executor(): AgentExecutor;

  /** Fake of the methods of TaskStore that calls of the process use. */
  protected readonly tasks = { recordedChildren: async () => this.children as TaskHeader[] };

  get task(): Task {
    const [first, ...rest] = this.log;
    if (first === undefined) throw new Error('The process has not begun');
    return rest.reduce(applyTaskEvent, applyTaskEvent(undefined, first));
  }

  /** Resumes the process after a crash that left this log. */
  recover(log: readonly TaskEvent[]): Promise<TaskState> {
    this.log.push(...log);
    return this.execute(null, log.length - 1);
  }

  cancel(): void {
    this.controller.abort(new TaskCanceled());
  }

  shutDown(): void {
    this.controller.abort(new Error('This process stops'));
  }

  protected begin(message: Message, metadata: JsonObject): Promise<TaskState> {
    this.log.push({ task: submittedTask(this.reference, message, metadata) });
    return this.execute(null, 0);
  }

  /** Sends a follow-up Message to a waiting process, which begins its next turn. */
  protected goOn(received: Message): Promise<TaskState> {
    const { task } = this;
    this.log.push({ ...statusUpdate(this.reference, 'TASK_STATE_WORKING'), received });
    return this.execute(task, 0);
  }

  private async execute(task: Task | null, recovered: number): Promise<TaskState> {
    const userMessage = this.task.history?.[0];
    if (userMessage === undefined) throw new Error('A Task begins with a Message');
    const context: RequestContext = {
      ...this.reference,
      token: 'token',
      userMessage,
      task,
      recovered,
      call: { scope: ANONYMOUS_SCOPE, agent: this.agent, extensions: [], baseUrl: 'http://own' },
      metadata: undefined,
      signal: this.controller.signal,
      readTaskLog: async () => [...this.log],
      assertRecordable: () => undefined,
      isRefused: () => this.isRefused,
      assertClaimHeld: async () => undefined,
      flush: async () => {
        this.durable = this.log.length;
      },
    };
    for await (const event of this.executor().execute(context)) {
      applyTaskEvent(this.task, event);
      this.log.push(event);
      this.isRefused = true;
      this.onEvent(event);
      this.isRefused = false;
    }
    return this.task.status.state;
  }
}

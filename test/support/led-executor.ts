import { AgentExecutor, type RequestContext } from '#libs/agents';
import { statusUpdate, type TaskState } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { until } from './until.js';

/** Executor whose events a test sets one by one. A cancel does not stop it. */
export class LedExecutor extends AgentExecutor {
  /** Contexts of the executions so far. */
  readonly contexts: RequestContext[] = [];
  private readonly steps: ((context: RequestContext) => TaskEvent)[] = [];
  private wake: () => void = () => undefined;

  constructor(override readonly recovery: 'restart' | 'fail' = 'fail') {
    super();
  }

  /** Sets the next event of the Task. */
  say(state: TaskState, text?: string): void {
    this.steps.push((context) => statusUpdate(context, state, text));
    this.wake();
  }

  async *execute(context: RequestContext): AsyncGenerator<TaskEvent> {
    this.contexts.push(context);
    for (;;) {
      const step = this.steps.shift();
      if (step) yield step(context);
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Waits until so many executions have begun, and returns the context of the last one. */
  async begun(executions = 1): Promise<RequestContext> {
    await until(() => this.contexts.length >= executions, { what: `execution ${executions} to begin` });
    return this.contexts.at(-1)!;
  }
}

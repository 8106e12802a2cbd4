import {
  type AcceptingCall,
  AgentExecutor,
  type ChainLink,
  chainMetadata,
  chainOf,
  keptChain,
  type RequestContext,
} from '#libs/executor';
import type { JsonObject, SendMessageRequest } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { DurableExecution, ProcessState } from './process.js';

/** Start of an execution of a process. */
export interface ProcessStart {
  context: RequestContext;
  /** Log so far. */
  log: readonly TaskEvent[];
  /** Calls that led to the process. */
  links: readonly ChainLink[];
}

/**
 * Durable process as an agent: its Task is the process. After a crash any replica resumes it from its log. Recorded
 * steps are not repeated.
 */
export abstract class ProcessExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  override readonly callsAgents = true;
  /** Milliseconds to cancel the agents at work. */
  override readonly cancelGrace: number = 10_000;

  override taskMetadata(request: SendMessageRequest, call: AcceptingCall): JsonObject {
    return { ...this.describeRequest(request, call), ...chainMetadata(chainOf(request)) };
  }

  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const process = await this.openProcess(context);
    yield* process.runToEnd();
  }

  /** Creates the process of an execution, here from its whole log. */
  protected async openProcess(context: RequestContext): Promise<DurableExecution<ProcessState>> {
    const log = await context.readTaskLog();
    return this.beginProcess({ context, log, links: linksOf(log[0]) });
  }

  /** Returns the metadata that the Task stores of its request: everything that a later execution needs. */
  protected abstract describeRequest(request: SendMessageRequest, call: AcceptingCall): JsonObject;

  protected abstract beginProcess(
    start: ProcessStart,
  ): DurableExecution<ProcessState> | Promise<DurableExecution<ProcessState>>;
}

/** Returns the calls that led to a process, from the first event of its log. */
export function linksOf(first: TaskEvent | undefined): ChainLink[] {
  return keptChain(first && 'task' in first ? first.task.metadata : undefined);
}

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
import type { Process, ProcessState } from './process.js';

/** Where an execution of a process begins. */
export interface ProcessStart {
  context: RequestContext;
  /** The log so far. */
  log: readonly TaskEvent[];
  /** The calls that led to the process. */
  links: readonly ChainLink[];
}

/**
 * A durable process as an agent: its Task is the process. After a crash it goes on from its log, in any replica; what is
 * in the log is not done again.
 */
export abstract class ProcessExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  override readonly callsAgents = true;
  /** Time for the agents at work to be canceled. */
  override readonly cancelGrace: number = 10_000;

  override taskMetadata(request: SendMessageRequest, call: AcceptingCall): JsonObject {
    return { ...this.about(request, call), ...chainMetadata(chainOf(request)) };
  }

  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const process = await this.open(context);
    yield* process.events();
  }

  /** The process as an execution goes on with it: here from its whole log. */
  protected async open(context: RequestContext): Promise<Process<ProcessState>> {
    const log = await context.log();
    return this.begin({ context, log, links: linksOf(log[0]) });
  }

  /** What the Task keeps of the request for it: all that is needed to go on, whoever does. */
  protected abstract about(request: SendMessageRequest, call: AcceptingCall): JsonObject;

  protected abstract begin(start: ProcessStart): Process<ProcessState> | Promise<Process<ProcessState>>;
}

/** The calls that led to a process, by the first event of its log. */
export function linksOf(first: TaskEvent | undefined): ChainLink[] {
  return keptChain(first && 'task' in first ? first.task.metadata : undefined);
}

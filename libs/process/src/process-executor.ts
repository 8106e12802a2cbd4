import { AgentExecutor, type ChainLink, chainMetadata, chainOf, keptChain, type RequestContext } from '#libs/executor';
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

  override taskMetadata(request: SendMessageRequest): JsonObject {
    return { ...this.about(request), ...chainMetadata(chainOf(request)) };
  }

  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const log = await context.log();
    const [first] = log;
    const links = keptChain(first && 'task' in first ? first.task.metadata : undefined);
    const process = await this.begin({ context, log, links });
    yield* process.events();
  }

  /** What the Task keeps of the request for it: all that is needed to go on, whoever does. */
  protected abstract about(request: SendMessageRequest): JsonObject;

  protected abstract begin(start: ProcessStart): Process<ProcessState> | Promise<Process<ProcessState>>;
}

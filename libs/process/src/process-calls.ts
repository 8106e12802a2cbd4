import type { AgentDirectory, CancelOutcome } from '#libs/a2a-client';
import {
  AgentCall,
  type AgentCallSpec,
  type CallIdentity,
  type CallOutcome,
  type CanceledCall,
  cancelTask,
} from '#libs/agent-calls';
import type { ChainLink, CallChains, RequestContext } from '#libs/executor';
import { EarlierTasks, type EarlierTaskSources } from './earlier-tasks.js';

/** What every process needs of the service it runs in. */
export interface ProcessServices {
  directory: AgentDirectory;
  tasks: EarlierTaskSources['tasks'];
  chains: CallChains;
}

/** A process whose calls these are. */
interface CallingProcess {
  context: RequestContext;
  /** The calls that led to it. */
  links: readonly ChainLink[];
  /** Its agent, where that is not the one that was asked for it. */
  agent?: string;
  remembered?: EarlierTaskSources['remembered'];
}

/** Whom a process calls, and what for: the same in every execution. */
export interface CalledAgent extends Pick<AgentCallSpec, 'target' | 'own'> {
  /** What the process calls the call; the agent's Task is found by it. */
  reference: string;
  /** The agent's Task, as far as the log names it. */
  seen?: string;
  identity?: Omit<CallIdentity, 'scope' | 'parent'>;
}

/**
 * A call that is to be made. `admit` is asked only where no earlier execution has made it; `since`, when the log says of
 * it, counts only where an earlier one has, or may have: an agent elsewhere can have the Message without a Task in sight.
 */
export interface PlannedCall
  extends
    CalledAgent,
    Pick<
      AgentCallSpec,
      | 'request'
      | 'adapt'
      | 'complete'
      | 'context'
      | 'admit'
      | 'forgotten'
      | 'limit'
      | 'onPause'
      | 'onRestart'
      | 'since'
      | 'resends'
      | 'timeouts'
    > {
  /** It is not told what led to the call then. */
  callsNobody?: boolean;
  /** The agent works in this process. */
  staysHere?: boolean;
}

/** What a cancel takes to find out which Tasks earlier executions have made. */
const FINDING_MS = 5_000;

/**
 * The calls of one execution of a process. A call that this execution did not decide on may have been made by an earlier
 * one: its Task is gone on with.
 */
export class ProcessCalls {
  private readonly calls = new Map<string, AgentCall>();
  /** When this execution decided on calls (`performance.now()`), before it recorded that. */
  private readonly announced = new Map<string, number>();
  /** The Tasks of calls that earlier executions made: those of this service, and those elsewhere. */
  private readonly earlier: EarlierTasks;

  constructor(
    private readonly services: ProcessServices,
    private readonly process: CallingProcess,
  ) {
    const { context, remembered } = process;
    this.earlier = new EarlierTasks({ tasks: services.tasks, ...(remembered && { remembered }) }, context.taskId);
  }

  /** This execution decides on the call, with an event that it has yet to yield: nobody can have made it before. */
  announce(reference: string): void {
    this.announced.set(reference, performance.now());
  }

  /** Whether it was this execution that decided on the call. */
  isNew(reference: string): boolean {
    return this.announced.has(reference);
  }

  /** The call, to be run; or the rest of it. @throws the signal's reason */
  async open(planned: PlannedCall): Promise<AgentCall> {
    const { reference } = planned;
    const call = this.callOf(planned, await this.known(planned));
    this.calls.set(reference, call);
    return call;
  }

  /** Forgets a call that is over. */
  close(reference: string): void {
    this.calls.delete(reference);
    this.announced.delete(reference);
  }

  /** The Task of a call, as far as anybody knows; never throws. */
  async find({ reference, seen }: Pick<CalledAgent, 'reference' | 'seen'>): Promise<string | undefined> {
    const known = this.calls.get(reference)?.taskId ?? seen;
    if (known !== undefined || this.announced.has(reference)) return known;
    return this.earlier.find(reference, AbortSignal.timeout(FINDING_MS)).catch(() => undefined);
  }

  /** The Task that an open call is known to have made. */
  taskIdOf(reference: string): string | undefined {
    return this.calls.get(reference)?.taskId;
  }

  /** Why an open call has reached nobody so far, while nobody listens there. */
  refusalOf(reference: string): CallOutcome | undefined {
    const call = this.calls.get(reference);
    const failure = call?.refusal;
    return call && failure && { kind: 'failed', answer: call.answer, failure };
  }

  /** Closes every connection; the agents work on. */
  abort(): void {
    for (const call of this.calls.values()) call.abort();
  }

  /** Gives the call up and cancels its Task, whichever execution made it. Never throws. */
  async cancel(called: CalledAgent): Promise<CanceledCall> {
    const { reference, own, seen } = called;
    const [open, isNew] = [this.calls.get(reference), this.announced.has(reference)];
    this.close(reference);
    const canceled = await open?.cancel();
    if (canceled?.taskId !== undefined) return canceled;
    try {
      const taskId = seen ?? (isNew ? undefined : await this.earlier.find(reference, AbortSignal.timeout(FINDING_MS)));
      if (taskId !== undefined) return { taskId, outcome: await this.cancelTask(called, taskId) };
    } catch {
      return { outcome: 'unknown' };
    }
    // A Task of an agent of ours would have been found.
    const maybeSent = canceled?.outcome === 'unknown' || !(isNew || own);
    return { outcome: maybeSent ? 'unknown' : 'not-started' };
  }

  /** Cancels a Task of the agent that no call is open to. Never throws. */
  async cancelTask(called: CalledAgent, taskId: string): Promise<CancelOutcome> {
    try {
      const { url } = await called.target();
      return await cancelTask(this.services.directory, url, taskId, this.identity(called));
    } catch {
      return 'unreachable';
    }
  }

  private callOf(planned: PlannedCall, known: string | undefined): AgentCall {
    const { context, links, agent = context.call.agent } = this.process;
    const { reference, identity: _identity, seen: _seen, callsNobody, staysHere, admit, since, ...spec } = planned;
    const announcedAt = this.announced.get(reference);
    return new AgentCall(this.services.directory, {
      ...spec,
      identity: this.identity(planned),
      signal: context.signal,
      by: {
        context,
        agent,
        ...(!callsNobody && { chain: { links, signer: this.services.chains } }),
        ...(announcedAt !== undefined && { announcedAt }),
        ...(staysHere && { staysHere }),
      },
      ...(known !== undefined && { known }),
      ...(announcedAt === undefined && since !== undefined && { since }),
      ...(known === undefined && admit && { admit }),
    });
  }

  private async known({ reference, seen, request }: PlannedCall): Promise<string | undefined> {
    if (this.announced.has(reference)) return undefined;
    return seen ?? request.message.taskId ?? this.earlier.find(reference, this.process.context.signal);
  }

  private identity({ reference, identity }: CalledAgent): CallIdentity {
    const { taskId, token, call } = this.process.context;
    // Last, so that nothing replaces them: the journal keeps the order of each caller's Tasks alone (ADR 7).
    return { ...identity, scope: call.scope, parent: { taskId, reference, token } };
  }
}

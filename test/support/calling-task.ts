import { type AgentDirectory, HttpAgentDirectory } from '#libs/a2a-client';
import { CallChains, TaskCanceled } from '#libs/agents';
import { AgentCall, type AgentCallSpec, type CallingTask, type CallOutcome, type CallProgress } from '#libs/durable';
import { derivedId, userMessage } from '#libs/protocol';
import type { FakeAgent } from './fake-agent.js';

/** Task of this process that calls a fake agent. Each instance has its own abort signal, and makes the same call. */
export class FakeCallingTask {
  readonly directory: AgentDirectory = new HttpAgentDirectory({
    http: { fetch, cachedFetch: fetch },
    onCardless: () => undefined,
  });
  readonly chains = new CallChains(Buffer.from('a secret'));
  readonly messageId = derivedId('task', 'step', 1);
  /**
   * Number of times that a call has asserted the claim of this Task. A test may replace `prove` to reject, as if the
   * claim were lost.
   */
  proofs = 0;
  prove = async (): Promise<void> => {
    this.proofs += 1;
  };
  /** Resolves when the events of the Task are durable. A test may replace this function. */
  flush = async (): Promise<void> => undefined;
  private readonly controller = new AbortController();

  constructor(private readonly agent: Pick<FakeAgent, 'url'>) {}

  call(fields: Partial<Omit<AgentCallSpec, 'by'>> = {}, by: Partial<CallingTask> = {}): AgentCall {
    return new AgentCall(this.directory, {
      identity: { scope: { tenant: '', owner: '' }, parent: { taskId: 'task', reference: 'step#1' } },
      signal: this.controller.signal,
      request: { message: userMessage('hello', { messageId: this.messageId }) },
      findTarget: () => ({ url: this.agent.url }),
      by: {
        context: { taskId: 'task', flush: () => this.flush(), assertClaimHeld: () => this.prove() },
        agent: 'callers',
        chain: { links: [], signer: this.chains },
        ...by,
      },
      ...fields,
    });
  }

  cancel(): void {
    this.controller.abort(new TaskCanceled());
  }

  /** Breaks the connection to the agent, as a crash of this process would. */
  die(): void {
    this.controller.abort(new Error('This process dies'));
  }
}

/** Runs a call to its end. @returns the progress and the outcome of the call */
export async function followed(call: AgentCall): Promise<{ progress: CallProgress[]; outcome: CallOutcome }> {
  const progress: CallProgress[] = [];
  for await (const followed of call.runCall()) progress.push(followed);
  return { progress, outcome: call.outcome };
}

/** Runs a call to its end, and returns its outcome. */
export async function outcomeOf(call: AgentCall): Promise<CallOutcome> {
  return (await followed(call)).outcome;
}

/** Returns the first Task id that a call reports. The call continues; `rest` resolves with its outcome. */
export async function sighted(call: AgentCall): Promise<{ taskId: string; rest: Promise<CallOutcome> }> {
  const run = call.runCall();
  const first = await run.next();
  if (first.done || call.taskId === undefined) throw new Error('The call has heard of no Task');
  const rest = async (): Promise<CallOutcome> => {
    while (!(await run.next()).done);
    return call.outcome;
  };
  return { taskId: call.taskId, rest: rest() };
}

import { type AgentDirectory, HttpAgentDirectory } from '#libs/a2a-client';
import { CallChains, TaskCanceled } from '#libs/agents';
import { AgentCall, type AgentCallSpec, type CallingTask, type CallOutcome, type CallProgress } from '#libs/durable';
import { derivedId, userMessage } from '#libs/protocol';
import type { FakeAgent } from './fake-agent.js';

/** A Task of one process that calls a fake agent: each has a signal of its own, and makes the same call. */
export class FakeCallingTask {
  readonly directory: AgentDirectory = new HttpAgentDirectory({
    http: { fetch, cachedFetch: fetch },
    onCardless: () => undefined,
  });
  readonly chains = new CallChains(Buffer.from('a secret'));
  readonly messageId = derivedId('task', 'step', 1);
  /** How often the store was asked whether the Task is still this process's; replace it to say no. */
  proofs = 0;
  prove = async (): Promise<void> => {
    this.proofs += 1;
  };
  /** Replace it to say when the Task's events are durable. */
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

  /** What a crash looks like to an agent: the connection is gone. */
  die(): void {
    this.controller.abort(new Error('This process dies'));
  }
}

/** All that a call hears, and how it ends. */
export async function followed(call: AgentCall): Promise<{ progress: CallProgress[]; outcome: CallOutcome }> {
  const progress: CallProgress[] = [];
  for await (const followed of call.runCall()) progress.push(followed);
  return { progress, outcome: call.outcome };
}

/** How a call ends. */
export async function outcomeOf(call: AgentCall): Promise<CallOutcome> {
  return (await followed(call)).outcome;
}

/** The Task id that a call hears of first; the call goes on. */
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

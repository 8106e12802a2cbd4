import { AgentCall, type CallIdentity, cancelTask, ownChildren } from '#libs/agent-calls';
import type { RequestContext } from '#libs/executor';
import { throughOutage } from '#libs/postgres';
import { textPart, userMessage } from '#libs/protocol';
import { turnId } from './a2a-event.js';
import { type Callee, nameOf, type Side } from './conversation.js';
import { refuseBeyond } from './conversation-budget.js';
import type { CallName } from './conversation-metadata.js';
import type { ConversationServices } from './conversation-services.js';
import type { ConversationState, SideSession } from './conversation-state.js';
import type { PendingTurn } from './dialogue.js';

/** An agent, and what it is called for. */
interface Called {
  agent: string;
  as: Callee;
}

/** The calls of one execution of a conversation. */
export class ConversationCalls {
  /** Whether an earlier process may have made the next call already. */
  private repeated: boolean;
  private current: (Called & { name: CallName; call: AgentCall }) | undefined;

  constructor(
    private readonly services: ConversationServices,
    private readonly context: RequestContext,
    private readonly state: ConversationState,
  ) {
    this.repeated = context.task !== null || context.recovered > 0;
  }

  turn({ turn, speaker, text }: PendingTurn): Promise<AgentCall> {
    const agent = nameOf(speaker, this.state.settings);
    return this.call(turn, { agent, as: speaker }, text, this.state.sessions[speaker]);
  }

  announcement(agent: string, text: string): Promise<AgentCall> {
    return this.call('announce', { agent, as: 'announce' }, text, {});
  }

  /** Cancels the Task that is at work, and those that wait for what will not come. */
  async cancel(): Promise<void> {
    const { sessions, settings } = this.state;
    const waiting = (['requester', 'target'] as Side[]).map((side) => {
      return { agent: nameOf(side, settings), as: side, taskId: sessions[side].taskId };
    });
    const others = waiting.filter(({ taskId }) => taskId !== this.current?.call.taskId);
    const [open] = await Promise.all([
      this.current?.call.cancel(),
      ...others.map(({ taskId, ...called }) => this.cancelTask(called, taskId)),
    ]);
    if (open?.taskId === undefined) await this.cancelUnseen();
  }

  private async call(name: CallName, called: Called, text: string, session: SideSession): Promise<AgentCall> {
    const known = this.state.calls.get(name) ?? (this.repeated ? await this.madeBefore(name, session) : undefined);
    this.repeated = false;
    const { references, directory, hops: signer } = this.services;
    const { context, state } = this;
    const call = new AgentCall(directory, {
      identity: this.identity(name, called),
      signal: context.signal,
      request: { message: userMessage([textPart(text)], { messageId: turnId(context.taskId, name), ...session }) },
      target: async () => {
        const callee = await references.resolve(called.agent, context.call.scope.tenant);
        return { url: references.url(callee), callee };
      },
      ...(known === undefined && { admit: () => this.spend(name) }),
      by: { context, agent: context.call.agent, chain: { hops: state.hops, signer } },
      own: !isElsewhere(called),
      ...(known !== undefined && { known }),
      limit: state.settings.timeoutMs,
    });
    this.current = { ...called, name, call };
    return call;
  }

  /** An agent is not called beyond the budget; a call that was made before costs nothing again. */
  private async spend(name: CallName): Promise<void> {
    const { hops, budgets } = this.services;
    const root = hops.rootOf(this.state.hops) ?? this.context.taskId;
    const spend = () => budgets.spend(root, name === 'announce' ? 'announcement' : 'turn');
    refuseBeyond(await throughOutage(spend, this.context.signal));
  }

  /** The Task of a call that no event of the log names: one of our own agents names us, a waiting one is known. */
  private async madeBefore(name: CallName, session: SideSession): Promise<string | undefined> {
    const { taskId, signal } = this.context;
    const made = await ownChildren(this.services.tasks, taskId, signal);
    return made.get(referenceOf(name)) ?? session.taskId;
  }

  /** Cancels the Task of a call that was made, or may have been, and has not told of it. */
  private async cancelUnseen(): Promise<void> {
    const { dialogue, settings, calls } = this.state;
    const pending = dialogue.pending();
    const next = pending && { agent: nameOf(pending.speaker, settings), as: pending.speaker, name: pending.turn };
    const unseen = this.current ?? next;
    if (unseen === undefined) return;
    await this.cancelTask(unseen, calls.get(unseen.name) ?? (await this.madeBefore(unseen.name, {})));
  }

  /** One that cannot be reached ends by itself, or at its own limits. */
  private async cancelTask(called: Called, taskId: string | undefined): Promise<void> {
    if (taskId === undefined) return;
    const { references, directory } = this.services;
    const { scope } = this.context.call;
    const callee = await references.resolve(called.agent, scope.tenant).catch(() => undefined);
    if (callee === undefined) return;
    await cancelTask(directory, references.url(callee), taskId, { scope, ...this.credential(called) });
  }

  private identity(name: CallName, called: Called): CallIdentity {
    const { taskId, call } = this.context;
    return { scope: call.scope, parent: { taskId, reference: referenceOf(name) }, ...this.credential(called) };
  }

  /** Only for an agent elsewhere, whatever the request said; a caller may name any, so the credential has to say where it goes. */
  private credential(called: Called): Pick<CallIdentity, 'credential' | 'onlyToHosts'> {
    const credential = this.state.settings.auth?.[called.as];
    return credential !== undefined && isElsewhere(called) ? { credential, onlyToHosts: true } : {};
  }
}

function isElsewhere({ agent }: Called): boolean {
  return /^https?:/i.test(agent);
}

/** What a call's Task calls the call, where it is one of our own agents. */
function referenceOf(name: CallName): string {
  return `turn#${name}`;
}

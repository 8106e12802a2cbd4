import type { CallOptions } from '#libs/a2a-client';
import type { Hop, RequestContext } from '#libs/executor';
import { throughOutage } from '#libs/postgres';
import { turnId } from './a2a-event.js';
import { type Callee, nameOf, type Side } from './conversation.js';
import { refuseBeyond } from './conversation-budget.js';
import type { CallName } from './conversation-metadata.js';
import type { ConversationServices } from './conversation-services.js';
import type { ConversationState, SideSession } from './conversation-state.js';
import type { PendingTurn } from './dialogue.js';
import { TurnCall, type TurnCallSpec } from './turn-call.js';

const CANCEL_MS = 5_000;

/** An agent, and what it is called for. */
interface Called {
  agent: string;
  as: Callee;
}

/** The calls of one execution of a conversation. */
export class ConversationCalls {
  /** Whether an earlier process may have made the next call already. */
  private repeated: boolean;
  private current: (Called & { call: CallName; turn: TurnCall }) | undefined;

  constructor(
    private readonly services: ConversationServices,
    private readonly context: RequestContext,
    private readonly state: ConversationState,
  ) {
    this.repeated = context.task !== null || context.recovered > 0;
  }

  turn({ turn, speaker, text }: PendingTurn): Promise<TurnCall> {
    const agent = nameOf(speaker, this.state.settings);
    return this.call(turn, { agent, as: speaker }, text, this.state.sessions[speaker]);
  }

  announcement(agent: string, text: string): Promise<TurnCall> {
    return this.call('announce', { agent, as: 'announce' }, text, {});
  }

  /** Cancels the Task that is at work, and those that wait for what will not come. */
  async cancel(): Promise<void> {
    const { sessions, settings } = this.state;
    const waiting = (['requester', 'target'] as Side[]).map((side) => {
      return { agent: nameOf(side, settings), as: side, taskId: sessions[side].taskId };
    });
    const working = await this.working();
    const tasks = new Map([...waiting, ...(working ? [working] : [])].map(({ taskId, ...called }) => [taskId, called]));
    await Promise.all([...tasks].map(([taskId, called]) => this.cancelTask(called, taskId)));
  }

  private async call(call: CallName, called: Called, text: string, session: SideSession): Promise<TurnCall> {
    const known = this.state.calls.get(call) ?? (this.repeated ? await this.madeBefore(call, session) : undefined);
    this.repeated = false;
    const turn = new TurnCall(this.services.directory, {
      call,
      prepare: () => this.prepare(call, called.agent, known === undefined),
      messageId: turnId(this.context.taskId, call),
      text,
      session,
      ...(known !== undefined && { known }),
      timeoutMs: this.state.settings.timeoutMs,
      signal: this.context.signal,
      options: { ...this.options(call), ...this.credential(called) },
    } satisfies TurnCallSpec);
    this.current = { ...called, call, turn };
    return turn;
  }

  /** The agent is not called where that is a loop, or beyond the budget; a call that was made before costs nothing again. */
  private async prepare(call: CallName, agent: string, anew: boolean): Promise<{ url: string; hops: readonly Hop[] }> {
    const { references, hops, budgets } = this.services;
    const { taskId, call: context } = this.context;
    const callee = await references.resolve(agent, context.scope.tenant);
    hops.refuseCall(callee, this.state.hops);
    const root = hops.rootOf(this.state.hops) ?? taskId;
    const spend = () => budgets.spend(root, call === 'announce' ? 'announcement' : 'turn');
    if (anew) refuseBeyond(await throughOutage(spend, this.context.signal));
    const extended = hops.extended(this.state.hops, { task: taskId, caller: context.agent, callee });
    return { url: references.url(callee), hops: extended };
  }

  /** The Task of a call that no event of the log names: one of our own agents names us, a waiting one is known. */
  private async madeBefore(call: CallName, session: SideSession): Promise<string | undefined> {
    const children = () => this.services.tasks.children(this.context.taskId);
    const own = await throughOutage(children, this.context.signal);
    const made = own.find(({ parentReference }) => parentReference === referenceOf(call));
    return made?.taskId ?? session.taskId;
  }

  private async working(): Promise<(Called & { taskId: string | undefined }) | undefined> {
    if (this.current) {
      const { agent, as, call, turn } = this.current;
      return { agent, as, taskId: turn.answer.taskId ?? (await this.madeBefore(call, {})) };
    }
    const pending = this.state.dialogue.pending();
    if (!pending) return undefined;
    const taskId = this.state.calls.get(pending.turn) ?? (await this.madeBefore(pending.turn, {}));
    return { agent: nameOf(pending.speaker, this.state.settings), as: pending.speaker, taskId };
  }

  private async cancelTask(called: Called, taskId: string | undefined): Promise<void> {
    if (taskId === undefined) return;
    const { scope } = this.context.call;
    const timeouts = { refused: 0 };
    const options = { scope, timeouts, signal: AbortSignal.timeout(CANCEL_MS), ...this.credential(called) };
    try {
      const { references, directory } = this.services;
      const url = references.url(await references.resolve(called.agent, scope.tenant));
      const client = await directory.client(url, options);
      await client.cancel(taskId, options);
    } catch {
      // It cannot be reached: it ends by itself, or at its own limits.
    }
  }

  /** Only for an agent elsewhere, whatever the request said; a caller may name any, so the credential has to say where it goes. */
  private credential({ agent, as }: Called): Pick<CallOptions, 'credential' | 'onlyToHosts'> {
    const credential = this.state.settings.auth?.[as];
    return credential !== undefined && /^https?:/i.test(agent) ? { credential, onlyToHosts: true } : {};
  }

  private options(call: CallName): Pick<CallOptions, 'scope' | 'parent'> {
    const { taskId, call: caller } = this.context;
    return { scope: caller.scope, parent: { taskId, reference: referenceOf(call) } };
  }
}

/** What a call's Task calls the call, where it is one of our own agents. */
function referenceOf(call: CallName): string {
  return `turn#${call}`;
}

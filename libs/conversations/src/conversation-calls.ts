import type { AgentClient } from '#libs/a2a-client';
import type { AgentCall } from '#libs/agent-calls';
import { CONVERSATION_ENTRY, ConversationEntries, type ConversationEntry } from '#libs/executor';
import { throughOutage } from '#libs/postgres';
import { type CalledAgent, ProcessCalls, type ProcessStart } from '#libs/process';
import { derivedId, type Message, textPart, userMessage, withoutUserinfo } from '#libs/protocol';
import { turnId } from './a2a-event.js';
import { type CalledParty, nameOf, type Side } from './conversation.js';
import { refuseBeyond } from './conversation-budget.js';
import { announceEntry, turnEntry } from './conversation-entry.js';
import type { CallName } from './conversation-metadata.js';
import type { ConversationServices } from './conversation-services.js';
import type { AskedQuestion, ConversationState, SideSession } from './conversation-state.js';
import type { PendingTurn } from './dialogue.js';
import { entryText } from './reply-prompt.js';

const SIDES = ['requester', 'target'] as const;

/** Message to an agent, with its entry. */
interface ConversationMessage {
  text: string;
  session?: SideSession;
  entry: ConversationEntry;
}

/** Calls of one execution of a conversation. */
export class ConversationCalls {
  private readonly calls: ProcessCalls;
  private readonly entries: ConversationEntries;

  constructor(
    private readonly services: ConversationServices,
    private readonly start: ProcessStart,
    private readonly state: ConversationState,
  ) {
    this.calls = new ProcessCalls(services, start);
    this.entries = new ConversationEntries(services.chains);
  }

  turn(pending: PendingTurn): Promise<AgentCall> {
    const { turn, speaker, text } = pending;
    const { asked } = this.state;
    if (asked?.answer) return this.answer(asked, asked.answer);
    const session = this.state.sessions[speaker];
    return this.open(turn, this.side(turn, speaker), { text, session, entry: turnEntry(this.state, pending) });
  }

  announcement(agent: string): Promise<AgentCall> {
    const text = this.state.dialogue.lastText;
    return this.open('announce', this.announcer(agent), {
      text,
      entry: announceEntry(this.state, withoutUserinfo(agent)),
    });
  }

  /** Announces the call that follows from the event to be emitted. */
  announceNext(): void {
    this.calls.announce(referenceOf(this.state.dialogue.pending()?.turn ?? 'announce'));
  }

  abort(): void {
    this.calls.abort();
  }

  /** Cancels the Task whose question a person has not answered. Never throws. */
  async cancelAsked(): Promise<void> {
    const { asked } = this.state;
    if (asked) await this.calls.cancelTask(this.side(asked.turn, asked.side), asked.taskId);
  }

  /** Cancels the Task of an announcer that asks a question, which gets no answer. Never throws. */
  async cancelAnnouncement(agent: string, taskId: string | undefined): Promise<void> {
    if (taskId !== undefined) await this.calls.cancelTask(this.announcer(agent), taskId);
  }

  /** Cancels the Task at work, and the Tasks that wait for input that will not come. */
  async cancel(): Promise<void> {
    const next = this.next();
    const atWork = next && (this.calls.taskIdOf(next.reference) ?? next.seen);
    await Promise.all([next && this.calls.cancel(next), this.cancelWaiting(atWork)]);
  }

  /**
   * Cancels the Tasks that wait for input that will not come. Never throws. @param but a Task that is canceled
   * elsewhere
   */
  async cancelWaiting(but?: string): Promise<void> {
    const { sessions, asked } = this.state;
    const waiting = new Map(asked && [[asked.taskId, asked.side]]);
    for (const side of SIDES) if (sessions[side].taskId !== undefined) waiting.set(sessions[side].taskId, side);
    const others = [...waiting].filter(([taskId]) => taskId !== but);
    await Promise.all(others.map(([taskId, side]) => this.calls.cancelTask(this.side('announce', side), taskId)));
  }

  /** Returns the current or next call of the conversation, if any. */
  private next(): CalledAgent | undefined {
    const { dialogue, settings, announcement } = this.state;
    const pending = dialogue.pending();
    if (pending) return this.side(pending.turn, pending.speaker);
    if (dialogue.outcome === undefined || settings.announce === undefined || announcement) return undefined;
    return this.announcer(settings.announce);
  }

  private announcer(agent: string): CalledAgent {
    return this.called('announce', agent, 'announce');
  }

  /** Sends a person's answer to the Task that asked; the answer of that Task is the turn. */
  private answer({ side, turn, taskId, contextId }: AskedQuestion, { messageId, parts }: Message): Promise<AgentCall> {
    const ids = { messageId: derivedId(this.start.context.taskId, turn, messageId), taskId };
    return this.calls.open({
      ...this.side(turn, side),
      request: { message: userMessage(parts, { ...ids, ...(contextId !== undefined && { contextId }) }) },
      limit: this.state.settings.timeoutMs,
      since: this.state.callSince,
    });
  }

  private open(name: CallName, called: CalledAgent, { text, session, entry }: ConversationMessage): Promise<AgentCall> {
    const messageId = turnId(this.start.context.taskId, name);
    return this.calls.open({
      ...called,
      request: { message: userMessage([textPart(text)], { messageId, ...session }) },
      complete: (message, client) => this.complete(message, entry, client),
      admit: () => this.spend(name),
      limit: this.state.settings.timeoutMs,
      since: this.state.callSince,
    });
  }

  /** Forgets an ended call. */
  close(name: CallName): void {
    this.calls.close(referenceOf(name));
  }

  /**
   * Adds the entry, signed, for an agent that reads entries; for any other agent as a text Part if the conversation
   * asks for it.
   */
  private complete(message: Message, entry: ConversationEntry, client: Pick<AgentClient, 'declares'>): Message {
    const isRead = this.services.references.isOwn(entry.self) || client.declares(CONVERSATION_ENTRY);
    if (isRead) return this.entries.signed(entry, message, this.start.context.call.scope);
    if (this.state.settings.instructions !== 'text') return message;
    return { ...message, parts: [textPart(entryText(entry)), ...message.parts] };
  }

  /** Charges the budget before an agent is called. A call that an earlier execution made is not charged again. */
  private async spend(name: CallName): Promise<void> {
    const { chains, budgets } = this.services;
    const { context } = this.start;
    const root = chains.rootOf(this.start.links) ?? context.taskId;
    const spend = () => budgets.spend(root, name === 'announce' ? 'announcement' : 'turn');
    refuseBeyond(await throughOutage(spend, context.signal));
  }

  private side(name: CallName, side: Side): CalledAgent {
    return this.called(name, nameOf(side, this.state.settings), side);
  }

  /**
   * Returns the agent of a call. A credential is only for an agent elsewhere, whatever the request said. A caller may
   * name any credential, so the credential has to list its hosts.
   */
  private called(name: CallName, agent: string, as: CalledParty): CalledAgent {
    const { references } = this.services;
    const { call, signal } = this.start.context;
    const { auth, requesterRevision } = this.state.settings;
    const revision = as === 'requester' ? requesterRevision : undefined;
    const called = references.called(agent, call.scope.tenant, signal, revision);
    const credential = called.own ? undefined : auth?.[as];
    const seen = this.state.calls.get(name);
    return {
      reference: referenceOf(name),
      ...called,
      ...(seen !== undefined && { seen }),
      ...(called.own && revision !== undefined && { identity: { revision } }),
      ...(credential !== undefined && { identity: { credential, onlyToHosts: true } }),
    };
  }
}

/** Returns the name of a call within the Task, by which the Task of a local agent is found. */
function referenceOf(name: CallName): string {
  return `turn#${name}`;
}

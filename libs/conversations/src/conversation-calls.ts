import type { AgentClient } from '#libs/a2a-client';
import { CONVERSATION_ENTRY, ConversationEntries, type ConversationEntry } from '#libs/agents';
import {
  type AgentCall,
  type AgentReferences,
  type CalledAgent,
  ProcessCalls,
  type ProcessServices,
  type ProcessStart,
} from '#libs/durable';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { derivedId, type Message, textPart, userMessage, withoutUserinfo } from '#libs/protocol';
import { turnId } from './a2a-event.js';
import { type ConversationBudgets, refuseBeyond } from './conversation-budget.js';
import type { ConversationCommands } from './conversation-command.js';
import { announceEntry, entryText, turnEntry } from './conversation-entry.js';
import type { AskedQuestion, CallName, ConversationState, SideSession } from './conversation-state.js';
import { type CalledParty, type Side, sideName } from './conversation.js';
import type { PendingTurn } from './dialogue.js';

/** Services that every conversation uses. */
export interface ConversationServices extends ProcessServices {
  references: Pick<AgentReferences, 'areSame' | 'callTarget' | 'isOwn' | 'refuseUnknown'>;
  commands: ConversationCommands;
  budgets: ConversationBudgets;
}

const SIDES = ['requester', 'target'] as const;

/** Text for an agent, with the context and Task that the Message continues, and the entry (prompt) to attach. */
interface ConversationMessage {
  text: string;
  session?: SideSession;
  entry: ConversationEntry;
}

/** Opens, announces, closes and cancels the calls that one execution of a conversation makes to its agents. */
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

  openTurn(pending: PendingTurn): Promise<AgentCall> {
    const { turn, speaker, text } = pending;
    const { asked } = this.state;
    if (asked?.answer) return this.sendAnswer(asked, asked.answer);
    const session = this.state.sessions[speaker];
    return this.openCall(turn, this.sideCall(turn, speaker), { text, session, entry: turnEntry(this.state, pending) });
  }

  openAnnouncement(agent: string): Promise<AgentCall> {
    const text = this.state.dialogue.lastText;
    return this.openCall('announce', this.announcerCall(agent), {
      text,
      entry: announceEntry(this.state, withoutUserinfo(agent)),
    });
  }

  /**
   * Marks the call that comes next, if any, as new: `openCall` then makes it without looking for a Task that an earlier
   * execution created for it. Call this right before the event that announces the call is yielded.
   */
  announceNext(): void {
    this.calls.announceCall(referenceOf(this.state.dialogue.findPending()?.turn ?? 'announce'));
  }

  abort(): void {
    this.calls.abort();
  }

  /** Cancels the agent's Task that waits for a person's answer, if there is one. Never throws. */
  async cancelAsked(): Promise<void> {
    const { asked } = this.state;
    if (asked) await this.calls.cancelTask(this.sideCall(asked.turn, asked.side), asked.taskId);
  }

  /**
   * Cancels the Task of an announcer that asks a question: the conversation is over, so the question gets no answer.
   * Never throws.
   */
  async cancelAnnouncement(agent: string, taskId: string | undefined): Promise<void> {
    if (taskId !== undefined) await this.calls.cancelTask(this.announcerCall(agent), taskId);
  }

  /** Cancels the call in progress, and the agents' Tasks that wait for a next Message, which will not come. */
  async cancelCalls(): Promise<void> {
    const next = this.nextCall();
    const atWork = next && (this.calls.taskIdOf(next.reference) ?? next.seen);
    await Promise.all([next && this.calls.cancelCall(next), this.cancelWaiting(atWork)]);
  }

  /**
   * Cancels the agents' Tasks that wait for a next Message, which will not come. Never throws.
   * @param but id of a Task to leave out, since its call is canceled separately
   */
  async cancelWaiting(but?: string): Promise<void> {
    const { sessions, asked } = this.state;
    const waiting = new Map(asked && [[asked.taskId, asked.side]]);
    for (const side of SIDES) if (sessions[side].taskId !== undefined) waiting.set(sessions[side].taskId, side);
    const others = [...waiting].filter(([taskId]) => taskId !== but);
    await Promise.all(others.map(([taskId, side]) => this.calls.cancelTask(this.sideCall('announce', side), taskId)));
  }

  /** Returns the call in progress, or else the call that comes next; `undefined` if there is none. */
  private nextCall(): CalledAgent | undefined {
    const { dialogue, settings, announcement } = this.state;
    const pending = dialogue.findPending();
    if (pending) return this.sideCall(pending.turn, pending.speaker);
    if (dialogue.outcome === undefined || settings.announce === undefined || announcement) return undefined;
    return this.announcerCall(settings.announce);
  }

  private announcerCall(agent: string): CalledAgent {
    return this.calledAgent('announce', agent, 'announce');
  }

  /** Sends a person's answer to the Task that asked for it. The Task's answer to it is the text of the turn. */
  private sendAnswer(
    { side, turn, taskId, contextId }: AskedQuestion,
    { messageId, parts }: Message,
  ): Promise<AgentCall> {
    const ids = { messageId: derivedId(this.start.context.taskId, turn, messageId), taskId };
    return this.calls.openCall({
      ...this.sideCall(turn, side),
      request: { message: userMessage(parts, { ...ids, ...(contextId !== undefined && { contextId }) }) },
      limit: this.state.settings.timeoutMs,
      since: this.state.callSince,
    });
  }

  private openCall(
    name: CallName,
    called: CalledAgent,
    { text, session, entry }: ConversationMessage,
  ): Promise<AgentCall> {
    const messageId = turnId(this.start.context.taskId, name);
    return this.calls.openCall({
      ...called,
      request: { message: userMessage([textPart(text)], { messageId, ...session }) },
      complete: (message, client) => this.addEntry(message, entry, client),
      admit: () => this.spendBudget(name),
      limit: this.state.settings.timeoutMs,
      since: this.state.callSince,
    });
  }

  /** Removes an ended call from the open calls of this execution. */
  close(name: CallName): void {
    this.calls.close(referenceOf(name));
  }

  /**
   * Adds the entry (prompt) to a Message, in one of three ways: as signed metadata for an agent that reads entries;
   * as a text Part for any other agent, if the setting `instructions` is `text`; else not at all.
   */
  private addEntry(
    message: Message,
    entry: ConversationEntry,
    client: Pick<AgentClient, 'declaresExtension'>,
  ): Message {
    const isRead = this.services.references.isOwn(entry.self) || client.declaresExtension(CONVERSATION_ENTRY);
    if (isRead) return this.entries.attachEntry(entry, message, this.start.context.call.scope);
    if (this.state.settings.instructions !== 'text') return message;
    return { ...message, parts: [textPart(entryText(entry)), ...message.parts] };
  }

  /**
   * Counts a call against the budget of the outermost Task, before the agent is called. ProcessCalls calls this method
   * only if no Task of the call is known, so a resumed call is not counted again.
   */
  private async spendBudget(name: CallName): Promise<void> {
    const { chains, budgets } = this.services;
    const { context } = this.start;
    const root = chains.rootOf(this.start.links) ?? context.taskId;
    const countOne = () => budgets.countCall(root, name === 'announce' ? 'announcement' : 'turn');
    refuseBeyond(await retryWhileDatabaseDown(countOne, context.signal));
  }

  private sideCall(name: CallName, side: Side): CalledAgent {
    return this.calledAgent(name, sideName(side, this.state.settings), side);
  }

  /**
   * Returns the agent of a call, with the credential that the settings name for it. An agent of this service gets no
   * credential, even if the settings name one. Since a caller may name any credential, a credential is sent only to
   * hosts that the credential itself lists.
   */
  private calledAgent(name: CallName, agent: string, as: CalledParty): CalledAgent {
    const { references } = this.services;
    const { call, signal } = this.start.context;
    const { auth, requesterRevision } = this.state.settings;
    const revision = as === 'requester' ? requesterRevision : undefined;
    const called = references.callTarget(agent, call.scope.tenant, signal, revision);
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

/**
 * Returns the name of a call within the conversation's Task. With this name, the Task of a local agent is found again.
 */
function referenceOf(name: CallName): string {
  return `turn#${name}`;
}

import type { CalledTask } from '#libs/a2a-client';
import type { SaidText } from '#libs/executor';
import {
  firstText,
  isTerminalState,
  isWaitingState,
  type Message,
  streamEvent,
  type TaskState,
  type TaskStatus,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { A2aEvent } from './a2a-event.js';
import { type ConversationSettings, type Side, speakerOf } from './conversation.js';
import {
  type Announcement,
  type CallName,
  type ConversationStep,
  readSettings,
  readStep,
} from './conversation-metadata.js';
import { Dialogue } from './dialogue.js';

/** Where a side goes on with its agent. */
export interface SideSession {
  contextId?: string;
  /** Its agent's Task, while that waits for the next Message. */
  taskId?: string;
}

/** A question of the agent whose turn is next, for a person to answer. */
export interface AskedQuestion {
  side: Side;
  /** The turn. */
  turn: number;
  taskId: string;
  contextId?: string;
  /** State and Message with which the conversation asks. */
  state: TaskState;
  message: Message | undefined;
  /** The answer, from when it is received. */
  answer?: Message;
}

/**
 * The side's place after an answer of its agent: its Task only while that waits. A Task that a failed call has
 * received no word of may wait.
 */
export function sessionAfter(before: SideSession, answer: CalledTask): SideSession & { waiting: boolean } {
  const { taskId, reply, state } = answer;
  const contextId = reply?.contextId ?? answer.contextId ?? before.contextId;
  return {
    waiting: reply === undefined && (state === undefined ? taskId !== undefined : isWaitingState(state)),
    ...(taskId !== undefined && { taskId }),
    ...(contextId !== undefined && { contextId }),
  };
}

/** The metadata key of a Message that only wakes a paused conversation: what to do is a command. */
export const WAKE_KEY = 'parley/wake';

/** A conversation as its Task's log tells it. The same events always give the same state. */
export class ConversationState {
  readonly dialogue: Dialogue;
  readonly sessions: Record<Side, SideSession> = { requester: {}, target: {} };
  /** The last turn that the agent of each side has answered by itself, and so knows all turns up to; -1: none. */
  readonly known: Record<Side, number> = { requester: -1, target: -1 };
  /** The Tasks that calls have made, as far as the log names them. */
  readonly calls = new Map<CallName, string>();
  /** The number of the last command that was carried out. */
  command = 0;
  paused = false;
  /** What a caller said to the paused conversation: the next turn. */
  injection: string | undefined;
  /** The question before the pending turn; absent once there is a turn. */
  asked: AskedQuestion | undefined;
  announcement: Announcement | undefined;
  taskState: TaskState = 'TASK_STATE_SUBMITTED';
  /** When the Task reached its state; epoch milliseconds. */
  changedAt = 0;
  /** Since when the call has been next, or under way, that is; epoch milliseconds. */
  callSince = 0;

  constructor(
    readonly conversationId: string,
    readonly settings: ConversationSettings,
    self: boolean,
    /** Texts that the requester knows from before the conversation, oldest first. */
    readonly before: readonly SaidText[] = [],
  ) {
    this.dialogue = new Dialogue({ conversationId, settings, self });
  }

  /** @throws Error where the log is not one of a conversation */
  static of(
    conversationId: string,
    log: readonly TaskEvent[],
    self = false,
    before?: readonly SaidText[],
  ): ConversationState {
    const state = new ConversationState(conversationId, settingsIn(log), self, before);
    for (const event of log) state.apply(event);
    return state;
  }

  /** True if a question of an agent waits for the answer of a person. */
  get isAsking(): boolean {
    return this.asked !== undefined && this.asked.answer === undefined;
  }

  /** Whether the Task has ended without a word about it: it was ended from outside. */
  get cut(): boolean {
    return isTerminalState(this.taskState) && this.dialogue.outcome === undefined;
  }

  /** Takes in the next event of the log; gives the event of the `a2a` stream that it is, if it is one. */
  apply(event: TaskEvent): A2aEvent | undefined {
    if (!('statusUpdate' in event)) return undefined;
    const { statusUpdate, received } = event;
    this.taskState = statusUpdate.status.state;
    this.changedAt = Date.parse(statusUpdate.status.timestamp ?? '');
    if (received && received.metadata?.[WAKE_KEY] !== true) this.receive(received);
    const emitted = streamEvent(statusUpdate.metadata) as unknown as A2aEvent | undefined;
    if (emitted) this.dialogue.take(emitted);
    if (emitted?.data.phase === 'turn') this.endWaits();
    const step = readStep(event);
    if (emitted?.data.phase === 'turn' && step.call === emitted.data.turn) this.known[speakerOf(step.call)] = step.call;
    // Only the Task of a call is noted while that is under way.
    if (emitted || step.call === undefined) this.callSince = this.changedAt;
    this.step(step);
    this.ask(step, statusUpdate.status);
    return emitted;
  }

  private receive(message: Message): void {
    this.paused = false;
    const text = firstText(message.parts);
    if (this.isAsking) this.asked = { ...(this.asked as AskedQuestion), answer: message };
    else if (text?.trim()) this.injection = text;
  }

  /** Forgets what the turn waited for. A Task whose question had no answer is not gone on with. */
  private endWaits(): void {
    const { asked } = this;
    this.injection = undefined;
    this.asked = undefined;
    if (!asked) return;
    const contextId = asked.contextId ?? this.sessions[asked.side].contextId;
    this.sessions[asked.side] = contextId === undefined ? {} : { contextId };
  }

  private ask({ asks, call: turn, taskId, contextId }: ConversationStep, { state, message }: TaskStatus): void {
    if (!asks || typeof turn !== 'number' || taskId === undefined) return;
    const known = contextId !== undefined && { contextId };
    this.asked = { side: speakerOf(turn), turn, taskId, ...known, state, message };
  }

  private step({ call, taskId, contextId, waiting, command, paused, announcement }: ConversationStep): void {
    if (command !== undefined) this.command = command;
    if (paused !== undefined) this.paused = paused;
    if (announcement !== undefined) this.announcement = announcement;
    if (call === undefined) return;
    if (taskId !== undefined) this.calls.set(call, taskId);
    if (call === 'announce' || waiting === undefined) return;
    this.sessions[speakerOf(call)] = {
      ...(contextId !== undefined && { contextId }),
      ...(waiting && taskId !== undefined && { taskId }),
    };
  }
}

/** @throws Error where the log is not one of a conversation */
export function settingsIn([first]: readonly TaskEvent[]): ConversationSettings {
  const settings = first && 'task' in first ? readSettings(first.task.metadata) : undefined;
  if (!settings) throw new Error('The log is not one of a conversation');
  return settings;
}

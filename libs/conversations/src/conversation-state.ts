import type { CalledTask } from '#libs/a2a-client';
import type { SaidText } from '#libs/agents';
import {
  firstText,
  isJsonObject,
  isTerminalState,
  isWaitingState,
  type JsonObject,
  type Message,
  streamEvent,
  type TaskState,
  type TaskStatus,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { A2aEvent } from './a2a-event.js';
import { type ConversationSettings, type Side, speakerOf } from './conversation.js';
import { Dialogue } from './dialogue.js';

/** Metadata key of a conversation's settings in its Task. */
const CONVERSATION_KEY = 'parley/conversation';
/**
 * Metadata key of a ConversationStep in an event of the Task. A later execution restores its state from these steps.
 */
const STEP_KEY = 'parley/step';

/** Name of a call of a conversation: the number of its turn, or `announce` for the announcement of the end. */
export type CallName = number | 'announce';

/** Outcome of the announcement. `silenced`: the announcer chose to deliver nothing (it answered `ANNOUNCE_SKIP`). */
export type Announcement = 'delivered' | 'silenced' | 'failed';

/** Change of a conversation's state that an event of its Task records beside the event of the `a2a` stream. */
export interface ConversationStep {
  /** Call that `taskId` and `contextId` belong to. */
  call?: CallName;
  taskId?: string;
  contextId?: string;
  /** True if the agent's Task `taskId` waits for the other side's next text. */
  waiting?: boolean;
  /** True if the agent's Task `taskId` asks a question that a person must answer before the next turn. */
  asks?: boolean;
  /** Number of the command that was executed. */
  command?: number;
  paused?: boolean;
  announcement?: Announcement;
}

export function settingsMetadata(settings: ConversationSettings): JsonObject {
  return { [CONVERSATION_KEY]: { ...settings } as unknown as JsonObject };
}

/** Returns the settings in a Task's metadata, or `undefined` if the Task is not a conversation. */
export function readSettings(metadata: JsonObject | undefined): ConversationSettings | undefined {
  const settings = metadata?.[CONVERSATION_KEY];
  return isJsonObject(settings) ? (settings as unknown as ConversationSettings) : undefined;
}

export function stepMetadata(step: ConversationStep): JsonObject {
  return Object.keys(step).length === 0 ? {} : { [STEP_KEY]: { ...step } as unknown as JsonObject };
}

export function readStep(event: TaskEvent): ConversationStep {
  const step = 'statusUpdate' in event ? event.statusUpdate.metadata?.[STEP_KEY] : undefined;
  return isJsonObject(step) ? (step as unknown as ConversationStep) : {};
}

/** Session of a side with its agent: the agent's context and Task that the next Message continues. */
export interface SideSession {
  contextId?: string;
  /** Id of the agent's Task; present only while that Task waits for the next Message. */
  taskId?: string;
}

/** Question that the agent of the current turn asks, and that a person must answer. */
export interface AskedQuestion {
  side: Side;
  /** Number of the turn that made the call. */
  turn: number;
  taskId: string;
  contextId?: string;
  /** State in which the conversation's Task waits for the person; `message` asks the question. */
  state: TaskState;
  message: Message | undefined;
  /** The person's answer; absent until it arrives. */
  answer?: Message;
}

/**
 * Returns the session of a side after an answer of its agent. `taskId` is the Task of the call; `waiting` is true if
 * the next Message continues that Task. `waiting` is also true after a call that failed without any update: the Task
 * may still be waiting.
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

/** Metadata key that marks a Message as a mere wake-up: the waiting conversation resumes and reads its commands. */
export const WAKE_KEY = 'parley/wake';

/**
 * State of a conversation, which results from the events of its Task's log. The same events always give the same state.
 */
export class ConversationState {
  readonly dialogue: Dialogue;
  readonly sessions: Record<Side, SideSession> = { requester: {}, target: {} };
  /**
   * Number of the last turn that each side's agent answered itself (no injected text); -1 if none. The agent knows
   * all texts up to that turn.
   */
  readonly known: Record<Side, number> = { requester: -1, target: -1 };
  /** Ids of the Tasks that agents created for the calls. A Task that the log does not name yet is absent. */
  readonly calls = new Map<CallName, string>();
  /** Number of the last executed command. */
  command = 0;
  paused = false;
  /** Text that a caller sent to the waiting Task, and that becomes the next turn; `undefined`: none. */
  injection: string | undefined;
  /** Question that a person must answer before the pending turn; absent once the turn is complete. */
  asked: AskedQuestion | undefined;
  announcement: Announcement | undefined;
  taskState: TaskState = 'TASK_STATE_SUBMITTED';
  /** Time of the last status update, in milliseconds since 1970. */
  changedAt = 0;
  /** Start of the current or next call's time limit, in milliseconds since 1970. */
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

  /** Returns the state after all events of a log. @throws Error if the Task of the log is not a conversation */
  static fromLog(
    conversationId: string,
    log: readonly TaskEvent[],
    self = false,
    before?: readonly SaidText[],
  ): ConversationState {
    const state = new ConversationState(conversationId, settingsIn(log), self, before);
    for (const event of log) state.apply(event);
    return state;
  }

  /** True if an agent's question waits for a person's answer. */
  get isAsking(): boolean {
    return this.asked !== undefined && this.asked.answer === undefined;
  }

  /**
   * True if the Task was ended from outside (a cancel or a limit of the Task), so that its log has no complete event.
   */
  get cut(): boolean {
    return isTerminalState(this.taskState) && this.dialogue.outcome === undefined;
  }

  /** Applies the next event of the log. Returns the event of the `a2a` stream that this event contains, if any. */
  apply(event: TaskEvent): A2aEvent | undefined {
    if (!('statusUpdate' in event)) return undefined;
    const { statusUpdate, received } = event;
    this.taskState = statusUpdate.status.state;
    this.changedAt = Date.parse(statusUpdate.status.timestamp ?? '');
    if (received && received.metadata?.[WAKE_KEY] !== true) this.receiveMessage(received);
    const emitted = streamEvent(statusUpdate.metadata) as unknown as A2aEvent | undefined;
    if (emitted) this.dialogue.applyEvent(emitted);
    if (emitted?.data.phase === 'turn') this.endWaits();
    const step = readStep(event);
    if (emitted?.data.phase === 'turn' && step.call === emitted.data.turn) this.known[speakerOf(step.call)] = step.call;
    // The only events during a call are records of its Task.
    if (emitted || step.call === undefined) this.callSince = this.changedAt;
    this.foldStep(step);
    this.noteQuestion(step, statusUpdate.status);
    return emitted;
  }

  private receiveMessage(message: Message): void {
    this.paused = false;
    const text = firstText(message.parts);
    if (this.isAsking) this.asked = { ...(this.asked as AskedQuestion), answer: message };
    else if (text?.trim()) this.injection = text;
  }

  /**
   * Clears, at the end of a turn, the text that a caller injected and the question that an agent asked. The next
   * Message to the agent that asked has the same `contextId`, but no `taskId`, so that it starts a new Task.
   */
  private endWaits(): void {
    const { asked } = this;
    this.injection = undefined;
    this.asked = undefined;
    if (!asked) return;
    const contextId = asked.contextId ?? this.sessions[asked.side].contextId;
    this.sessions[asked.side] = contextId === undefined ? {} : { contextId };
  }

  private noteQuestion(
    { asks, call: turn, taskId, contextId }: ConversationStep,
    { state, message }: TaskStatus,
  ): void {
    if (!asks || typeof turn !== 'number' || taskId === undefined) return;
    const known = contextId !== undefined && { contextId };
    this.asked = { side: speakerOf(turn), turn, taskId, ...known, state, message };
  }

  private foldStep({ call, taskId, contextId, waiting, command, paused, announcement }: ConversationStep): void {
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

/** Returns the settings in the first event of a log. @throws Error if the Task of the log is not a conversation */
export function settingsIn([first]: readonly TaskEvent[]): ConversationSettings {
  const settings = first && 'task' in first ? readSettings(first.task.metadata) : undefined;
  if (!settings) throw new Error('The log is not one of a conversation');
  return settings;
}

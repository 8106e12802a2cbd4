import { firstData, firstText, isJsonObject, type Task, type TaskState } from '#libs/protocol';
import type { StoredTask, TaskEvent, TaskHeader } from '#libs/tasks';
import { type Announcement, ConversationState, readSettings } from './conversation-state.js';
import {
  type ConversationOutcome,
  type ConversationSettings,
  sideName,
  type SpokenTurn,
  type TalkOrigin,
  type TurnFailure,
} from './conversation.js';

export type ConversationStatus = 'active' | 'complete';

/** Conversation in a list. */
export interface ConversationOverview {
  conversationId: string;
  requester: string;
  target: string;
  status: ConversationStatus;
  outcome?: ConversationOutcome;
  /** True while the conversation is paused, or a person must answer an agent's question; otherwise absent. */
  paused?: true;
  maxTurns: number;
  /** Time limit of one turn, in milliseconds. */
  timeoutMs: number;
  /** Tool call of the agent that started the conversation; absent if no agent did. */
  origin?: TalkOrigin;
  createdAt: string;
  updatedAt: string;
}

/** Conversation as `GET /api/conversations/{id}` returns it. */
export interface ConversationView extends ConversationOverview {
  /** Question that a person must answer before the next turn. */
  question?: string;
  turns: SpokenTurn[];
  /** Failure that ended the conversation, with the number of the turn that failed; absent if none did. */
  error?: TurnFailure & { turn: number };
  /** Outcome of the announcement, once known. */
  announcement?: Announcement;
}

/** Returns a conversation as callers see it, from its log. */
export function conversationView(header: TaskHeader, log: readonly TaskEvent[]): ConversationView {
  const state = ConversationState.fromLog(header.taskId, log);
  const { dialogue, announcement, paused, isAsking, asked } = state;
  const question = isAsking ? firstText(asked?.message?.parts ?? []) : undefined;
  const outcome = finalOutcome(state);
  return {
    ...summaryOf(header, state.settings),
    status: outcome === undefined ? 'active' : 'complete',
    ...(outcome !== undefined && { outcome }),
    ...((paused || isAsking) && outcome === undefined && { paused: true }),
    ...(question !== undefined && outcome === undefined && { question }),
    turns: dialogue.turns,
    ...(dialogue.error && { error: dialogue.error }),
    ...(announcement && { announcement }),
  };
}

/**
 * Returns the outcome, or `undefined` for an active conversation. If the Task was ended from outside, the outcome is
 * `canceled` or `error`.
 */
export function finalOutcome({ dialogue, cut, taskState }: ConversationState): ConversationOutcome | undefined {
  if (dialogue.outcome !== undefined || !cut) return dialogue.outcome;
  return taskState === 'TASK_STATE_CANCELED' ? 'canceled' : 'error';
}

/** Returns the list entry of a Task, or `undefined` if it is not a conversation. */
export function conversationSummary({ header, task }: StoredTask): ConversationOverview | undefined {
  const settings = readSettings(task.metadata);
  if (!settings) return undefined;
  const outcome = STATUS_OF[header.state] === 'complete' ? storedOutcome(task) : undefined;
  return {
    ...summaryOf(header, settings),
    status: STATUS_OF[header.state],
    ...(outcome !== undefined && { outcome }),
    ...(header.state === 'TASK_STATE_INPUT_REQUIRED' && { paused: true }),
  };
}

const STATUS_OF: Record<TaskState, ConversationStatus> = {
  TASK_STATE_SUBMITTED: 'active',
  TASK_STATE_WORKING: 'active',
  TASK_STATE_INPUT_REQUIRED: 'active',
  TASK_STATE_AUTH_REQUIRED: 'active',
  TASK_STATE_COMPLETED: 'complete',
  TASK_STATE_FAILED: 'complete',
  TASK_STATE_CANCELED: 'complete',
  TASK_STATE_REJECTED: 'complete',
};

/** Returns the Task states that a status stands for. */
export function statesOf(status: ConversationStatus): TaskState[] {
  return (Object.keys(STATUS_OF) as TaskState[]).filter((state) => STATUS_OF[state] === status);
}

function storedOutcome({ status, artifacts = [] }: Task): ConversationOutcome {
  const result = firstData(artifacts.flatMap(({ parts }) => parts));
  if (isJsonObject(result) && typeof result['outcome'] === 'string') return result['outcome'] as ConversationOutcome;
  return status.state === 'TASK_STATE_CANCELED' ? 'canceled' : 'error';
}

function summaryOf(
  header: TaskHeader,
  settings: ConversationSettings,
): Omit<ConversationOverview, 'status' | 'outcome' | 'paused'> {
  return {
    conversationId: header.taskId,
    requester: sideName('requester', settings),
    target: sideName('target', settings),
    maxTurns: settings.maxTurns,
    timeoutMs: settings.timeoutMs,
    ...(settings.origin && { origin: settings.origin }),
    createdAt: header.createdAt.toISOString(),
    updatedAt: header.updatedAt.toISOString(),
  };
}

import { isJsonObject, type JsonObject } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { ConversationSettings } from './conversation.js';

/** The metadata key under which a conversation's Task says what it is about. */
export const CONVERSATION_KEY = 'parley/conversation';
/** The metadata key under which an event of the Task keeps what another process needs to go on. */
const STEP_KEY = 'parley/step';

/** A call that a conversation makes: for a turn, or to announce the end. */
export type CallName = number | 'announce';

/** `silenced`: the agent answered with the token that says nothing. */
export type Announcement = 'delivered' | 'silenced' | 'failed';

/** What an event of a conversation's Task does to it, beside what the `a2a` stream shows. */
export interface ConversationStep {
  /** The call that the ids below belong to. */
  call?: CallName;
  taskId?: string;
  contextId?: string;
  /** Whether that Task waits for what the other side says next. */
  waiting?: boolean;
  /** True if that Task asks what a person has to answer before there is a turn. */
  asks?: boolean;
  /** The command that was carried out. */
  command?: number;
  paused?: boolean;
  announcement?: Announcement;
}

export function settingsMetadata(settings: ConversationSettings): JsonObject {
  return { [CONVERSATION_KEY]: { ...settings } as unknown as JsonObject };
}

/** What a Task's metadata says the conversation is about; `undefined` where the Task is none. */
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

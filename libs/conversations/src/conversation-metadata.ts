import { isJsonObject, type JsonObject } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { ConversationSettings } from './conversation.js';

/** Metadata key of a conversation's settings in its Task. */
export const CONVERSATION_KEY = 'parley/conversation';
/** Metadata key of the state that another execution needs, in events of the Task. */
const STEP_KEY = 'parley/step';

/** Call of a conversation: a turn, or the announcement of the end. */
export type CallName = number | 'announce';

/** Outcome of the announcement. `silenced`: the agent answered with the skip token. */
export type Announcement = 'delivered' | 'silenced' | 'failed';

/** Effect of an event on a conversation, beside what the `a2a` stream shows. */
export interface ConversationStep {
  /** Call that the following ids belong to. */
  call?: CallName;
  taskId?: string;
  contextId?: string;
  /** True if that Task waits for the other side's next text. */
  waiting?: boolean;
  /** True if that Task asks a question that a person must answer before the next turn. */
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

import type { Job } from '#libs/jobs';
import type { TaskPushNotificationConfig } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';

/** A config as its owner may see it: it has an id and a Task, and never the token and the credentials. */
export type ShownPushConfig = TaskPushNotificationConfig & { id: string; taskId: string };

/** A config that passed every check, with the id that it will be kept under. */
export type CheckedPushConfig = TaskPushNotificationConfig & { id: string };

/** A config for one Task. */
export interface PushRegistration {
  taskId: string;
  scope: TaskScope;
  config: CheckedPushConfig;
  /** The protocol version that the config came in, which its notifications keep to: `1.0` or `0.3`. */
  wireVersion: string;
  /**
   * The last event that is not notified; absent: the newest event there is, or the one before it where the Task has
   * ended, so that a late config is told of the end.
   */
  after?: number;
}

/**
 * The push notification configs of Tasks (A2A 1.0, section 3.1.7 to 3.1.10). A config that is kept gets every later
 * event of its Task, in order, until it is deleted or disabled; also where another replica executes the Task.
 */
export abstract class PushConfigs {
  /**
   * Checks a config before anything is written, and gives it an id where it has none.
   * @param field where the config is in its request, `''` for the request itself
   * @throws A2AError INVALID_PARAMS with one violation per field at fault
   */
  abstract check(config: TaskPushNotificationConfig, field?: string): CheckedPushConfig;

  /**
   * Refuses a config that a Task has no room for.
   * @throws A2AError INVALID_PARAMS
   */
  abstract checkRoom(taskId: string, config: CheckedPushConfig): Promise<void>;

  /**
   * Keeps a config; resolves when it is durable. One with the same id takes the place of the old one and goes on where
   * that one stood, also where it was disabled.
   * @throws A2AError TASK_NOT_FOUND; INVALID_PARAMS where the Task has too many configs
   */
  abstract register(registration: PushRegistration): Promise<ShownPushConfig>;

  /** The same where the Task has never had a config of that id: one that was replaced or deleted since stays so. */
  abstract registerOnce(registration: PushRegistration): Promise<void>;

  /** A job that registers a config once more, for the commit of the Message that brings it: this process may die before it does. */
  abstract registrationJob(registration: PushRegistration & { after: number }): Job;

  /** `undefined` where the Task has no such config. */
  abstract get(taskId: string, id: string): Promise<ShownPushConfig | undefined>;

  /** The configs of a Task, the oldest first. */
  abstract list(taskId: string): Promise<ShownPushConfig[]>;

  /** No attempt begins after it. An unknown id changes nothing. */
  abstract delete(taskId: string, id: string): Promise<void>;
}

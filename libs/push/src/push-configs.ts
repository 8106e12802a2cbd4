import type { Job } from '#libs/jobs';
import type { TaskPushNotificationConfig } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';

/** Config as its owner may see it: with an id and a Task, without the token and the credentials. */
export type ShownPushConfig = TaskPushNotificationConfig & { id: string; taskId: string };

/** Config that passed every check, with the id under which it will be stored. */
export type CheckedPushConfig = TaskPushNotificationConfig & { id: string };

/** Config for one Task. */
export interface PushRegistration {
  taskId: string;
  scope: TaskScope;
  config: CheckedPushConfig;
  /** Protocol version in which the config arrived, `1.0` or `0.3`. Its notifications use the same version. */
  wireVersion: string;
  /**
   * Last event that is not notified; absent: the newest event. For an ended Task it is the event before that, so that a
   * late config gets the final state.
   */
  after?: number;
}

/**
 * Push notification configs of Tasks (A2A 1.0, section 3.1.7 to 3.1.10). A stored config gets every later event of its
 * Task, in order, until it is deleted or disabled, whichever replica executes the Task.
 */
export abstract class PushConfigs {
  /**
   * Checks a config before anything is written, and adds an id if it has none.
   * @param field path of the config in its request, `''` for the request itself
   * @throws A2AError INVALID_PARAMS with one violation per field at fault
   */
  abstract checkConfig(config: TaskPushNotificationConfig, field?: string): CheckedPushConfig;

  /**
   * Refuses a config if the Task has the maximum number.
   * @throws A2AError INVALID_PARAMS
   */
  abstract checkRoom(taskId: string, config: CheckedPushConfig): Promise<void>;

  /**
   * Stores a config; resolves when it is durable. A config with the same id is replaced; notifications continue at its
   * position, even if it was disabled.
   * @throws A2AError TASK_NOT_FOUND; INVALID_PARAMS if the Task has the maximum number of configs
   */
  abstract registerConfig(registration: PushRegistration): Promise<ShownPushConfig>;

  /**
   * Registers a config unless the Task ever had one with that id: a config that was replaced or deleted meanwhile stays
   * so.
   */
  abstract registerOnce(registration: PushRegistration): Promise<void>;

  /**
   * Returns a job that registers a config again. It is part of the Message's commit, in case this process dies before
   * it registers the config.
   */
  abstract registrationJob(registration: PushRegistration & { after: number }): Job;

  /** Returns a config; `undefined` if the Task has none with that id. */
  abstract get(taskId: string, id: string): Promise<ShownPushConfig | undefined>;

  /** Lists the configs of a Task, oldest first. */
  abstract listConfigs(taskId: string): Promise<ShownPushConfig[]>;

  /** Deletes a config: no attempt begins afterwards. An unknown id is ignored. */
  abstract delete(taskId: string, id: string): Promise<void>;
}

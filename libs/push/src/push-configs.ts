import type { Job } from '#libs/jobs';
import { type FieldViolation, LONGEST_URL, type TaskPushNotificationConfig, TOO_LONG_URL } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';

/** Config as its owner may see it: with an id and a Task, without the token and the credentials. */
export type ShownPushConfig = TaskPushNotificationConfig & { id: string; taskId: string };

/** Config that passed `checkConfig`, with the id that it gets in storage. */
export type CheckedPushConfig = TaskPushNotificationConfig & { id: string };

/** Request to store a config for one Task. */
export interface PushRegistration {
  taskId: string;
  scope: TaskScope;
  config: CheckedPushConfig;
  /** Protocol version in which the config arrived, `1.0` or `0.3`. Its notifications use the same version. */
  wireVersion: string;
  /**
   * Sequence number after which the config gets notifications. If it is absent, the config gets only events that are
   * recorded later; the config of an ended Task gets the Task's last event, so that its receiver learns the final
   * state.
   */
  after?: number;
}

/**
 * Push notification configs of Tasks (A2A 1.0, section 3.1.7 to 3.1.10). A stored config gets every later event of its
 * Task, in order, until it is deleted or disabled, whichever replica executes the Task.
 */
export abstract class PushConfigs {
  /**
   * Checks the URL, the token and the authentication of a config before anything is written, and adds an id if the
   * config has none.
   * @param field path of the config in its request, `''` for the request itself
   * @throws A2AError INVALID_PARAMS with one violation per field at fault
   */
  abstract checkConfig(config: TaskPushNotificationConfig, field?: string): CheckedPushConfig;

  /**
   * Checks that a Task may get one more config, or that a config with this id exists and would be replaced.
   * @throws A2AError INVALID_PARAMS if the Task has the maximum number of other configs
   */
  abstract checkRoom(taskId: string, config: CheckedPushConfig): Promise<void>;

  /**
   * Stores a config; resolves when it is durable. A config of the Task with the same id is replaced and enabled again.
   * The new config then gets the events after the last event that the receiver of the replaced config accepted.
   * @throws A2AError TASK_NOT_FOUND; INVALID_PARAMS if the Task has the maximum number of configs
   */
  abstract registerConfig(registration: PushRegistration): Promise<ShownPushConfig>;

  /**
   * Registers a config unless the Task ever had a config with the same id: a config that was replaced or deleted
   * meanwhile stays replaced or deleted.
   */
  abstract registerOnce(registration: PushRegistration): Promise<void>;

  /**
   * Returns a job that registers a config if this process dies before it has registered the config itself. The caller
   * enqueues the job in the commit of the Message that contained the config.
   */
  abstract registrationJob(registration: PushRegistration & { after: number }): Job;

  /** Returns a config; `undefined` if the Task has none with that id. */
  abstract get(taskId: string, id: string): Promise<ShownPushConfig | undefined>;

  /** Lists the configs of a Task, oldest first. */
  abstract listConfigs(taskId: string): Promise<ShownPushConfig[]>;

  /** Deletes a config: no attempt begins afterwards. An unknown id is ignored. */
  abstract delete(taskId: string, id: string): Promise<void>;
}

const MAX_TOKEN = 1024;
const MAX_CREDENTIALS = 4096;
const MAX_SCHEME = 64;
/** Pattern of the visible ASCII texts that a header value may contain (RFC 9110, section 5.5). */
const VISIBLE_TEXT = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0020\u007f]/;
/** `token` of RFC 9110, section 5.6.2: the form of an authentication scheme. */
const SCHEME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * True if the outbound client permits calls to the host of a URL. The host's IP address is not known before the DNS
 * lookup.
 */
export type PermitsUrl = (url: URL) => boolean;

/**
 * Returns a violation for each of the fields `url`, `token`, `authentication.scheme` and `authentication.credentials`
 * that is malformed, too long or not permitted; an empty list if there are none.
 */
export function pushConfigProblems(config: TaskPushNotificationConfig, permits: PermitsUrl): FieldViolation[] {
  const { url, token, authentication } = config;
  const problems = [
    ['url', urlProblem(url, permits)],
    ['token', token === undefined ? undefined : textProblem(token, MAX_TOKEN)],
    ['authentication.scheme', authentication && schemeProblem(authentication.scheme)],
    [
      'authentication.credentials',
      authentication?.credentials && textProblem(authentication.credentials, MAX_CREDENTIALS),
    ],
  ] as const;
  return problems.flatMap(([field, description]) => (description ? [{ field, description }] : []));
}

function urlProblem(text: string, permits: PermitsUrl): string | undefined {
  if (text.length > LONGEST_URL) return TOO_LONG_URL;
  // The URL parser drops control characters, but the stored and shown URL would keep them.
  if (CONTROLS.test(text) || !URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must not carry credentials; use authentication';
  return permits(url) ? undefined : 'must be an address that this service may call';
}

function schemeProblem(scheme: string): string | undefined {
  if (scheme.length > MAX_SCHEME) return `must have at most ${MAX_SCHEME} characters`;
  return SCHEME.test(scheme) ? undefined : 'must be an HTTP authentication scheme';
}

function textProblem(text: string, limit: number): string | undefined {
  if (text.length > limit) return `must have at most ${limit} characters`;
  return VISIBLE_TEXT.test(text) ? undefined : 'must be visible ASCII characters';
}

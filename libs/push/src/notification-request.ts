import { isTerminalState, writeV03Task } from '#libs/protocol';
import { type RecordedEvent, TaskFold, type TaskStore } from '#libs/tasks';
import type { DueConfig } from './push-queues.js';
import type { PushSecrets } from './push-secrets.js';

/** Header with the id of a notification. Repeats have the same id, so that the receiver can recognize them. */
const NOTIFICATION_ID = 'x-a2a-notification-id';
/** Header with the config's `token`, under the name that A2A's SDKs use. */
const NOTIFICATION_TOKEN = 'x-a2a-notification-token';
/** Header with a JWS with detached content (RFC 7515, appendix F) over the body. */
export const NOTIFICATION_SIGNATURE = 'x-a2a-notification-signature';

/** Notification of one event. */
export interface Notification {
  id: string;
  body: string;
  contentType: string;
}

/** True for configs that came through A2A 0.3, which get the notifications of 0.3. */
export function isLegacyConfig({ wireVersion }: Pick<DueConfig, 'wireVersion'>): boolean {
  return wireVersion === '0.3';
}

/**
 * Builds the notification of an event. Its id is also the id of the delivery in the ledger.
 * @param legacyBody body of A2A 0.3, for a config of 0.3
 */
export function notificationOf(config: DueConfig, event: RecordedEvent, legacyBody?: string): Notification {
  return {
    id: notificationId(config.pushId, event.sequence),
    body: legacyBody ?? event.json,
    contentType: legacyBody === undefined ? 'application/a2a+json' : 'application/json',
  };
}

export function notificationId(pushId: string, sequence: number): string {
  return `${pushId}.${sequence}`;
}

/** Parses a notification's id; returns `undefined` for other text. */
export function readNotificationId(id: string): { pushId: string; sequence: number } | undefined {
  const match = /^([0-9a-f-]{36})\.(\d{1,9})$/.exec(id);
  return match ? { pushId: match[1]!, sequence: Number(match[2]) } : undefined;
}

/** Returns the headers of a notification except its signature (A2A 1.0, section 4.3.3). */
export function notificationHeaders(
  { scheme }: Pick<DueConfig, 'scheme'>,
  { token, credentials }: PushSecrets,
  { id, contentType }: Notification,
): Record<string, string> {
  return {
    'content-type': contentType,
    [NOTIFICATION_ID]: id,
    ...(token !== undefined && { [NOTIFICATION_TOKEN]: token }),
    ...(scheme !== null && credentials !== undefined && { authorization: authorizationHeader(scheme, credentials) }),
  };
}

/**
 * Returns the `Authorization` value. Credentials are sent as configured. Credentials of the scheme Basic may also be
 * configured as `user:password`, which is then encoded.
 */
function authorizationHeader(scheme: string, credentials: string): string {
  const plain = scheme.toLowerCase() === 'basic' && credentials.includes(':');
  return `${scheme} ${plain ? Buffer.from(credentials).toString('base64') : credentials}`;
}

interface FoldedTask {
  fold: TaskFold;
  sequence: number;
  /** Number of characters of the folded events. */
  characters: number;
}

/** Number of events of a log read at a time. */
const PAGE = 100;
/** Maximum number of Tasks with a cached state. For a cached Task the next event needs no read of the whole log. */
const MOST_KEPT = 32;
/** Maximum characters of the events in all cached states together. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

/**
 * Renders the bodies of notifications for webhooks that were registered through A2A 0.3: the Task as it stood after an
 * event (A2A 0.3, section 9.5). The same event always has the same body.
 */
export class LegacyBodies {
  /** Cached states, the most recently used last. */
  private readonly places = new Map<string, FoldedTask>();
  private characters = 0;

  constructor(private readonly tasks: Pick<TaskStore, 'readEvents'>) {}

  async renderBody({ taskId, sequence }: Pick<RecordedEvent, 'taskId' | 'sequence'>): Promise<string> {
    // Removed from the cache: two configs of one Task must not apply the same events to one fold.
    const kept = this.takeOut(taskId);
    const place = await this.advanceTo(kept && kept.sequence <= sequence ? kept : undefined, taskId, sequence);
    this.keepPlace(taskId, place);
    return JSON.stringify(writeV03Task(place.fold.toTask()));
  }

  private takeOut(taskId: string): FoldedTask | undefined {
    const place = this.places.get(taskId);
    if (!place) return undefined;
    this.places.delete(taskId);
    this.characters -= place.characters;
    return place;
  }

  /**
   * Caches the state of a Task that has not ended, and evicts the least recently used states. The newest state is kept
   * whatever its size.
   */
  private keepPlace(taskId: string, place: FoldedTask): void {
    this.takeOut(taskId);
    if (isTerminalState(place.fold.state)) return;
    this.places.set(taskId, place);
    this.characters += place.characters;
    for (const oldest of this.places.keys()) {
      if (oldest === taskId || (this.places.size <= MOST_KEPT && this.characters <= MOST_CHARACTERS)) return;
      this.takeOut(oldest);
    }
  }

  private async advanceTo(from: FoldedTask | undefined, taskId: string, sequence: number): Promise<FoldedTask> {
    let place = from;
    for (let at = from?.sequence ?? 0; at < sequence; at = place.sequence) {
      const events = await this.tasks.readEvents(taskId, at, Math.min(PAGE, sequence - at));
      for (const next of events) place = applyEvent(place, next);
      if (!place || place.sequence === at) throw new Error(`The log of task ${taskId} ends before ${sequence}`);
    }
    if (!place) throw new Error(`There is no event ${sequence} of task ${taskId}`);
    return place;
  }
}

function applyEvent(place: FoldedTask | undefined, { event, sequence, json }: RecordedEvent): FoldedTask {
  if (!place) return { fold: TaskFold.beginTask(event), sequence, characters: json.length };
  place.fold.applyEvent(event);
  return { fold: place.fold, sequence, characters: place.characters + json.length };
}

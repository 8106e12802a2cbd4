import { briefText, isActiveState, joinedText, runEventNote, type StreamResponse } from '#libs/protocol';

/** Interval in milliseconds at which the last message is repeated, so that an idle client does not time out. */
const HEARTBEAT_MS = 15_000;

/** Parameters of `notifications/progress`. */
export interface ProgressNotification {
  progress: number;
  message?: string;
}

/** Reports the progress of a call to the waiting client: on each event, and every 15 seconds in between. */
export class ProgressNotifier implements Disposable {
  private count = 0;
  private last: string | undefined;
  private readonly heartbeat: NodeJS.Timeout | undefined;

  /** @param notify absent if the client requested no progress */
  constructor(private readonly notify: ((progress: ProgressNotification) => Promise<void>) | undefined) {
    if (notify) this.heartbeat = setInterval(() => this.sendNotification(), HEARTBEAT_MS).unref();
  }

  reportEvent(response: StreamResponse): void {
    const said = progressText(response);
    if (said === undefined || this.notify === undefined) return;
    this.last = said;
    this.sendNotification();
  }

  [Symbol.dispose](): void {
    clearInterval(this.heartbeat);
  }

  private sendNotification(): void {
    this.count += 1;
    const message = this.last === undefined ? {} : { message: this.last };
    // A client that has left gets no more notifications; the call itself notices the disconnect.
    this.notify?.({ progress: this.count, ...message }).catch(() => undefined);
  }
}

/** Returns one line about an event of a run; `undefined` for events that do not matter to a waiting client. */
export function progressText(response: StreamResponse): string | undefined {
  if (!('statusUpdate' in response)) return undefined;
  const { status, metadata } = response.statusUpdate;
  const { type, node_id: id, instance, payload } = runEventNote(metadata) ?? {};
  const node = instance ?? id;
  if (node === undefined)
    return isActiveState(status.state) ? prefixedText(joinedText(status.message?.parts ?? [])) : undefined;
  switch (type) {
    case 'node.started':
      return `${node} started`;
    case 'node.completed':
      return `${node} completed`;
    case 'node.progress':
      return prefixedText(payload?.['text'], `${node}: `);
    case 'input.required':
      return prefixedText(payload?.['question'], `${node} asks: `);
    default:
      return undefined;
  }
}

function prefixedText(text: unknown, before = ''): string | undefined {
  return typeof text === 'string' && text !== '' ? `${before}${briefText(text)}` : undefined;
}

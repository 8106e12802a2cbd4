import { briefText, isActiveState, joinedText, runEventNote, type StreamResponse } from '#libs/protocol';

/** A client that hears nothing gives up after a while; this often it hears the last thing again. */
const HEARTBEAT_MS = 15_000;

/** What `notifications/progress` says. */
export interface Progress {
  progress: number;
  message?: string;
}

/** Tells a client that waits how its call gets on: as often as something is told, and now and then besides. */
export class CallProgress implements Disposable {
  private count = 0;
  private last: string | undefined;
  private readonly heartbeat: NodeJS.Timeout | undefined;

  /** @param notify absent where the client asked for no progress */
  constructor(private readonly notify: ((progress: Progress) => Promise<void>) | undefined) {
    if (notify) this.heartbeat = setInterval(() => this.send(), HEARTBEAT_MS).unref();
  }

  report(response: StreamResponse): void {
    const said = progressText(response);
    if (said === undefined || this.notify === undefined) return;
    this.last = said;
    this.send();
  }

  [Symbol.dispose](): void {
    clearInterval(this.heartbeat);
  }

  private send(): void {
    this.count += 1;
    const message = this.last === undefined ? {} : { message: this.last };
    // Who has left is told nothing more; the call itself finds that out.
    this.notify?.({ progress: this.count, ...message }).catch(() => undefined);
  }
}

/** What an event of a run tells, in a line; `undefined` where that is of interest to nobody who only waits. */
export function progressText(response: StreamResponse): string | undefined {
  if (!('statusUpdate' in response)) return undefined;
  const { status, metadata } = response.statusUpdate;
  const { type, node_id: id, instance, payload } = runEventNote(metadata) ?? {};
  const node = instance ?? id;
  if (node === undefined)
    return isActiveState(status.state) ? spoken(joinedText(status.message?.parts ?? [])) : undefined;
  switch (type) {
    case 'node.started':
      return `${node} started`;
    case 'node.completed':
      return `${node} completed`;
    case 'node.progress':
      return spoken(payload?.['text'], `${node}: `);
    case 'input.required':
      return spoken(payload?.['question'], `${node} asks: `);
    default:
      return undefined;
  }
}

function spoken(text: unknown, before = ''): string | undefined {
  return typeof text === 'string' && text !== '' ? `${before}${briefText(text)}` : undefined;
}

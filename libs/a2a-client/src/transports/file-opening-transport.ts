import type { Part, SendMessageRequest, StreamResponse, Task } from '#libs/protocol';
import type { AgentTransport, TransportOptions } from './agent-transport.js';

/** Tenant and owner for whom a call is made. Only their own files are opened. */
export interface FileReader {
  readonly tenant: string;
  readonly owner: string;
}

/** Lets remote agents read files of this service by signed URLs, since remote agents have no key of this service. */
export abstract class OutgoingFiles {
  /**
   * Returns the Parts with signed URLs, which need no key, in place of the URLs of the reader's own files. Other Parts
   * stay unchanged, so a caller cannot open another caller's files. Waits while the database is unreachable.
   * @param reader tenant and owner for whom the call is made
   * @param forMs milliseconds that the signed URLs are valid
   * @param signal ends the wait for the database
   */
  abstract openFiles(parts: readonly Part[], reader: FileReader, forMs: number, signal: AbortSignal): Promise<Part[]>;
}

const QUARTER_HOUR_MS = 15 * 60_000;
/**
 * Maximum and default time limit of a call, in milliseconds. Signed URLs are valid for the time limit of their call
 * plus 15 minutes.
 */
const LONGEST_MS = 24 * 60 * 60_000;

/**
 * Transport that replaces the URLs of files in Messages with signed URLs. Only the sent request has the signed URLs;
 * the caller's log keeps the permanent URLs.
 */
export class FileOpeningTransport implements AgentTransport {
  constructor(
    private readonly inner: AgentTransport,
    private readonly files: OutgoingFiles,
  ) {}

  get streaming(): boolean {
    return this.inner.streaming;
  }

  get timeouts(): AgentTransport['timeouts'] {
    return this.inner.timeouts;
  }

  sendMessage(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    return namesFile(request) ? this.#sendOpened(request, options) : this.inner.sendMessage(request, options);
  }

  get postMessage(): AgentTransport['postMessage'] {
    const { inner } = this;
    if (inner.postMessage === undefined) return undefined;
    return async (request, options) => inner.postMessage!(await this.#withOpenFiles(request, options), options);
  }

  subscribeToTask(taskId: string, options: TransportOptions): AsyncIterable<StreamResponse> {
    return this.inner.subscribeToTask(taskId, options);
  }

  getTask(taskId: string, options: TransportOptions): Promise<Task> {
    return this.inner.getTask(taskId, options);
  }

  cancelTask(taskId: string, options: TransportOptions): Promise<Task> {
    return this.inner.cancelTask(taskId, options);
  }

  get createPushConfig(): AgentTransport['createPushConfig'] {
    return this.inner.createPushConfig?.bind(this.inner);
  }

  get deletePushConfig(): AgentTransport['deletePushConfig'] {
    return this.inner.deletePushConfig?.bind(this.inner);
  }

  async *#sendOpened(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    yield* this.inner.sendMessage(await this.#withOpenFiles(request, options), options);
  }

  async #withOpenFiles(request: SendMessageRequest, options: TransportOptions): Promise<SendMessageRequest> {
    const { message } = request;
    const { scope, timeouts, signal } = options;
    if (scope === undefined || !namesFile(request)) return request;
    const forMs = Math.min(timeouts?.total ?? LONGEST_MS, LONGEST_MS) + QUARTER_HOUR_MS;
    return {
      ...request,
      message: { ...message, parts: await this.files.openFiles(message.parts, scope, forMs, signal) },
    };
  }
}

/** True if a Part of the Message has a URL, which may be the URL of a file. */
function namesFile({ message }: SendMessageRequest): boolean {
  return message.parts.some(({ url }) => url !== undefined);
}

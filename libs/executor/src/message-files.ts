import type { SendMessageRequest } from '#libs/protocol';
import type { CallContext } from './agent-executor.js';
import type { PartKeeper } from './part-keeper.js';

/** Keeps the large Parts of Messages that come in. */
export class MessageFiles {
  constructor(
    readonly keeper: PartKeeper | undefined,
    /** Ends the waiting for a database that is out of reach. */
    private readonly leaving: AbortSignal,
  ) {}

  /** True if `keep` may change a request: it may store files then. */
  concerns({ message }: SendMessageRequest): boolean {
    return this.keeper?.concerns(message.parts) ?? false;
  }

  /** Returns a request with the large Parts of its Message kept. A database that is away fails calls of runs not at all. */
  async keep(request: SendMessageRequest, { scope, parent }: CallContext): Promise<SendMessageRequest> {
    const { message } = request;
    if (!this.keeper?.concerns(message.parts)) return request;
    const parts = await this.keeper.keep(message.parts, scope, parent && this.leaving);
    return { ...request, message: { ...message, parts } };
  }
}

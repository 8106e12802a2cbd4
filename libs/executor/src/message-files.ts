import type { SendMessageRequest } from '#libs/protocol';
import type { CallContext } from './agent-executor.js';
import type { PartKeeper } from './part-keeper.js';

/** Stores the large Parts of incoming Messages as files. */
export class MessageFiles {
  constructor(
    readonly keeper: PartKeeper | undefined,
    /** Ends the wait for an unreachable database. */
    private readonly leaving: AbortSignal,
  ) {}

  /** True if `keepFiles` may change the request, and thus store files. */
  concernsRequest({ message }: SendMessageRequest): boolean {
    return this.keeper?.concernsParts(message.parts) ?? false;
  }

  /**
   * Returns the request with the large Parts of its Message stored as files. In-process calls wait for an unreachable
   * database; other calls fail.
   */
  async keepFiles(request: SendMessageRequest, { scope, parent }: CallContext): Promise<SendMessageRequest> {
    const { message } = request;
    if (!this.keeper?.concernsParts(message.parts)) return request;
    const parts = await this.keeper.keepParts(message.parts, scope, parent && this.leaving);
    return { ...request, message: { ...message, parts } };
  }
}

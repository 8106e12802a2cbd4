import type { Request } from 'express';

/** An agent that knows its callers. */
export interface GuardedAgent {
  binding: 'JSONRPC' | 'HTTP+JSON';
  streaming: boolean;
  /** Where it is served. */
  url: string;
  /** Who a request is from, to whom the agent says hello. */
  userOf(request: Request): string | undefined;
}

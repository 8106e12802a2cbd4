import type { Request } from 'express';

/** Agent that authenticates its callers. */
export interface GuardedAgent {
  binding: 'JSONRPC' | 'HTTP+JSON';
  streaming: boolean;
  /** URL of the agent. */
  url: string;
  /** Returns the name of the user that sent a request, whom the agent greets. */
  userOf(request: Request): string | undefined;
}

import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { AgentCallError } from '#libs/a2a-client';
import { ReconnectPace } from './reconnect-pace.js';
import type { ServerFetch } from './server-fetch.js';

/** Marks an error that no server sent. JSON-RPC reserves the code for implementations. */
const CUT = { code: -32_000, data: { cut: true } };

/**
 * Creates a transport for Streamable HTTP. If a stream ends without the answer, the SDK does not tell the waiting
 * request; here the request fails with an error that `cutReason` recognizes. Streams are reopened at Parley's own pace.
 * @param lastFailure returns why Parley cut the last body, if it did
 */
export async function httpTransport(
  endpoint: URL,
  fetch: ServerFetch,
  lastFailure: () => AgentCallError | undefined,
): Promise<Transport> {
  const pace = new ReconnectPace();
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const Watched = class extends StreamableHTTPClientTransport {
    override send(message: JSONRPCMessage | JSONRPCMessage[], options?: TransportSendOptions): Promise<void> {
      const onRequestStreamEnd = (): void => {
        options?.onRequestStreamEnd?.();
        for (const it of [message].flat()) {
          const reason = lastFailure()?.message ?? 'its connection has ended';
          // The SDK ignores this error for a request that already has its answer.
          if ('id' in it && 'method' in it)
            this.onmessage?.({ jsonrpc: '2.0', id: it.id, error: { ...CUT, message: reason } });
        }
      };
      if (!Array.isArray(message) && 'id' in message && 'method' in message) pace.noteRequest();
      return super.send(message as JSONRPCMessage, { ...options, onRequestStreamEnd });
    }
  };
  const reconnectionScheduler = (reconnect: () => void, asked: number): (() => void) => {
    const timer = setTimeout(reconnect, pace.nextPause(asked));
    return () => clearTimeout(timer);
  };
  return new Watched(endpoint, { fetch, reconnectionScheduler }) as Transport;
}

/** Returns the failure behind an error that stands for a missing answer; `undefined` for any other error. */
export function cutReason(error: unknown): AgentCallError | undefined {
  const { message, data } = (error ?? {}) as { message?: string; data?: { cut?: unknown } };
  return data?.cut === true ? new AgentCallError('connect', message ?? '') : undefined;
}

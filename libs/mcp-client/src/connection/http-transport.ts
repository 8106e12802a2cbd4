import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { AgentCallError } from '#libs/a2a-client';
import { ReconnectPace } from './reconnect-pace.js';
import type { ServerFetch } from './server-fetch.js';

/** The code of an error that no server sent (JSON-RPC leaves these to implementations), and what marks it. */
const CUT = { code: -32_000, data: { cut: true } };

/**
 * Streamable HTTP. The stream of an answer may end without one, of which the SDK says nothing to who waits for it: here
 * that is an error of the request, which `cutReason` knows. Streams are opened again at a pace of Parley's own.
 * @param lastFailure why the last body was cut, where that was done here
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
          // Of a request that has its answer nobody waits for another one.
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

/** Of an error that stands for an answer which did not come: why. */
export function cutReason(error: unknown): AgentCallError | undefined {
  const { message, data } = (error ?? {}) as { message?: string; data?: { cut?: unknown } };
  return data?.cut === true ? new AgentCallError('connect', message ?? '') : undefined;
}

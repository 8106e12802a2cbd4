import { backoff, pause } from './backoff.js';
import { request } from './http.js';
import { ApiProblem, isForbidden } from './problem.js';
import { socketProtocols } from './socket-ticket.js';

/** One message of the event gateway: the event itself, with the stream it belongs to and the place after it. */
export interface GatewayFrame {
  stream: string;
  cursor: string;
  [field: string]: unknown;
}

export interface GatewayQuery {
  /** Names of streams; all but `tool` where there are none. */
  streams?: readonly string[];
  runId?: string;
  conversationId?: string;
  taskId?: string;
  contextId?: string;
}

/** `refused`: the caller may not follow what happens, and it is not tried again. */
export type Connection = 'connecting' | 'live' | 'lost' | 'refused';

export interface GatewayReader {
  onFrame: (frame: GatewayFrame) => void;
  onConnection?: (connection: Connection) => void;
  /** The service no longer has what came after the last frame: what is shown must be fetched anew. */
  onGap?: () => void;
}

/** Follows the event gateway until the returned function is called. A reader that was cut misses nothing. */
export function followGateway(query: GatewayQuery, reader: GatewayReader): () => void {
  const stop = new AbortController();
  void follow(query, reader, stop.signal);
  return () => stop.abort();
}

/** Never rejects. */
async function follow(query: GatewayQuery, reader: GatewayReader, signal: AbortSignal): Promise<void> {
  let cursor: string | undefined;
  for (let failures = 0; !signal.aborted; failures += 1) {
    reader.onConnection?.('connecting');
    const protocols = await socketProtocols().catch((error: unknown) => (isForbidden(error) ? undefined : []));
    if (signal.aborted) return;
    if (protocols === undefined) return reader.onConnection?.('refused');
    const opened = await session(query, cursor, protocols, signal, (frame) => {
      failures = 0;
      cursor = frame.cursor;
      if (frame['type'] === 'hello') reader.onConnection?.('live');
      else reader.onFrame(frame);
    });
    if (signal.aborted) return;
    reader.onConnection?.('lost');
    if (!opened && (await isTooOld(query, cursor, signal))) {
      cursor = undefined;
      reader.onGap?.();
    }
    await pause(backoff(failures + 1), signal);
  }
}

/** One connection; resolves when it has ended with whether it was open at all. Never rejects. */
function session(
  query: GatewayQuery,
  since: string | undefined,
  protocols: string[],
  signal: AbortSignal,
  take: (frame: GatewayFrame) => void,
): Promise<boolean> {
  return new Promise((resolve) => {
    const address = new URL(`/events?${parameters(query, since)}`, location.href);
    address.protocol = address.protocol.replace('http', 'ws');
    const socket = new WebSocket(address, protocols);
    let opened = false;
    const close = (): void => socket.close();
    signal.addEventListener('abort', close, { once: true });
    socket.onopen = () => (opened = true);
    socket.onmessage = ({ data }) => take(JSON.parse(String(data)) as GatewayFrame);
    socket.onclose = () => {
      signal.removeEventListener('abort', close);
      resolve(opened);
    };
    if (signal.aborted) close();
  });
}

/** A browser does not say why a WebSocket was refused; the gateway's SSE route does. */
async function isTooOld(query: GatewayQuery, since: string | undefined, signal: AbortSignal): Promise<boolean> {
  if (since === undefined) return false;
  const stop = new AbortController();
  try {
    const answer = AbortSignal.any([stop.signal, signal]);
    await request('GET', `/api/events?${parameters(query, since)}`, { signal: answer });
    return false;
  } catch (error) {
    return error instanceof ApiProblem && error.status === 410;
  } finally {
    stop.abort();
  }
}

function parameters({ streams, ...ids }: GatewayQuery, since: string | undefined): string {
  const named = { ...(streams && { streams: streams.join(',') }), ...ids, ...(since !== undefined && { since }) };
  return new URLSearchParams(Object.entries(named).filter(([, value]) => value !== undefined)).toString();
}

import type { IncomingHttpHeaders } from 'node:http';

/**
 * Credentials that a request presents: a key or token of a caller, a node call of a replica, a ticket, or the session
 * of the console (SessionCookies).
 */
export interface Credentials {
  kind: 'bearer' | 'node' | 'ticket' | 'session';
  value: string;
}

/** Authentication scheme of calls that replicas make to each other for a run. */
export const NODE_SCHEME = 'Parley-Node';

/** Subprotocol of the event gateway's WebSocket. */
export const EVENTS_PROTOCOL = 'parley.events';
/** Prefix of the WebSocket subprotocol that carries a ticket. */
export const TICKET_PROTOCOL = 'parley.ticket.';

/** Returns the credentials in `Authorization`, else in `X-API-Key`; `undefined` without any. */
export function presentedCredentials(headers: IncomingHttpHeaders): Credentials | undefined {
  const { authorization } = headers;
  if (authorization !== undefined) return ofAuthorization(authorization);
  const key = headers['x-api-key'];
  return typeof key === 'string' ? { kind: 'bearer', value: key } : undefined;
}

/**
 * Returns the ticket that a WebSocket client offers as a subprotocol, else the credentials in the headers; `undefined`
 * without either.
 */
export function upgradeCredentials(headers: IncomingHttpHeaders): Credentials | undefined {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((it) => it.trim());
  const ticket = offered.find((it) => it.startsWith(TICKET_PROTOCOL));
  if (ticket !== undefined) return { kind: 'ticket', value: ticket.slice(TICKET_PROTOCOL.length) };
  return presentedCredentials(headers);
}

/** Parses an `Authorization` header. An unknown scheme yields an invalid credential. */
function ofAuthorization(header: string): Credentials {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+) *$/.exec(header) ?? [];
  if (scheme === NODE_SCHEME) return { kind: 'node', value };
  return { kind: 'bearer', value: /^bearer$/i.test(scheme) ? value : '' };
}

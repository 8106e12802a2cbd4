import type { IncomingHttpHeaders } from 'node:http';

/** What a request says of who sent it: a key or token of a caller, a node call of a replica, or a ticket. */
export interface Credentials {
  kind: 'bearer' | 'node' | 'ticket';
  value: string;
}

/** The scheme of calls that replicas make of each other for a run. */
export const NODE_SCHEME = 'Parley-Node';

/** The subprotocol that a WebSocket of the event gateway speaks, and the one that carries a ticket beside it. */
export const EVENTS_PROTOCOL = 'parley.events';
export const TICKET_PROTOCOL = 'parley.ticket.';

/** `Authorization` before `X-API-Key` before a ticket; `undefined` where a request says nothing. */
export function presentedCredentials(headers: IncomingHttpHeaders): Credentials | undefined {
  const { authorization } = headers;
  if (authorization !== undefined) return ofAuthorization(authorization);
  const key = headers['x-api-key'];
  return typeof key === 'string' ? { kind: 'bearer', value: key } : undefined;
}

/** As above, also from the subprotocols that the client of a WebSocket offers. */
export function upgradeCredentials(headers: IncomingHttpHeaders): Credentials | undefined {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((it) => it.trim());
  const ticket = offered.find((it) => it.startsWith(TICKET_PROTOCOL));
  if (ticket !== undefined) return { kind: 'ticket', value: ticket.slice(TICKET_PROTOCOL.length) };
  return presentedCredentials(headers);
}

/** A scheme that is not known is a credential that is not valid. */
function ofAuthorization(header: string): Credentials {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+) *$/.exec(header) ?? [];
  if (scheme === NODE_SCHEME) return { kind: 'node', value };
  return { kind: 'bearer', value: /^bearer$/i.test(scheme) ? value : '' };
}

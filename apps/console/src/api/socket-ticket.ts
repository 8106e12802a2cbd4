import type { Schemas } from '#libs/client';
import { callApi } from './http.js';
import { sessionKey } from './session-key.js';

/**
 * Returns the subprotocols that authenticate a WebSocket of this page, since a browser cannot send headers with a
 * WebSocket. They carry a ticket that is valid once, within 30 seconds. Without an API key the list is empty.
 * @throws ApiProblem
 */
export async function socketProtocols(): Promise<string[]> {
  if (sessionKey() === undefined) return [];
  const { protocols } = await callApi<Schemas['TicketView']>('POST', '/api/tickets');
  return protocols;
}

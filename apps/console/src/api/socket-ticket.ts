import type { Schemas } from '#libs/client';
import { callApi } from './http.js';
import { isSignedIn, loadSession } from './sign-in.js';

/**
 * Returns the subprotocols that authenticate a WebSocket of this page, since a browser cannot send headers with a
 * WebSocket. They carry a ticket that is valid once, within 30 seconds. The list is empty without a sign-in.
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export async function socketProtocols(): Promise<string[]> {
  await loadSession();
  if (!isSignedIn()) return [];
  const { protocols } = await callApi<Schemas['TicketView']>('POST', '/api/tickets');
  return protocols;
}

import { call } from './http.js';
import { sessionKey } from './session-key.js';

/**
 * The subprotocols that tell the event gateway who a WebSocket of this page is, since a browser gives it no headers: a
 * ticket that is good once, within thirty seconds. None where the service asks nobody. @throws ApiProblem
 */
export async function socketProtocols(): Promise<string[]> {
  if (sessionKey() === undefined) return [];
  const { protocols } = await call<{ protocols: string[] }>('POST', '/api/tickets');
  return protocols;
}

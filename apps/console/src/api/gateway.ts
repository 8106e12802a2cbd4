import { GatewayConnection, type GatewayFilter, type GatewayReader } from './gateway-connection.js';

export type { Connection, GatewayEventFrame, GatewayFilter, GatewayReader } from './gateway-connection.js';

const connection = new GatewayConnection((protocols) => {
  const address = new URL('/events?streams=none', location.href);
  address.protocol = address.protocol.replace('http', 'ws');
  return new WebSocket(address, protocols);
});

/**
 * Follows events of the event gateway until the returned function is called.
 * - After a lost connection, a reader gets the events after its last one. If the service has deleted some of them
 *   meanwhile, `onGap` of the reader is called.
 * - All readers of the page share a socket.
 */
export function followGateway(query: GatewayFilter, reader: GatewayReader): () => void {
  return connection.followQuery(query, reader);
}

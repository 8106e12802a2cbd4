import { GatewayConnection, type GatewayQuery, type GatewayReader } from './gateway-connection.js';

export type { Connection, GatewayFrame, GatewayQuery, GatewayReader } from './gateway-connection.js';

const connection = new GatewayConnection((protocols) => {
  const address = new URL('/events?streams=none', location.href);
  address.protocol = address.protocol.replace('http', 'ws');
  return new WebSocket(address, protocols);
});

/**
 * Follows the event gateway until the returned function is called.
 * - A reader misses no event when the connection was lost.
 * - All readers of the page share a socket.
 */
export function followGateway(query: GatewayQuery, reader: GatewayReader): () => void {
  return connection.follow(query, reader);
}

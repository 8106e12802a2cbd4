export type { EventProjection, Projected } from './event-projection.js';
export { EventGateway, type GatewayFrame, type GatewayStreams } from './event-gateway.js';
export { EventGatewayModule } from './event-gateway.module.js';
export { GatewaySocket } from './gateway-socket.js';

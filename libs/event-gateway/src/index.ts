export { EventGatewayModule } from './event-gateway.module.js';
export { GatewayAdapter } from './socket/gateway-adapter.js';
export { GatewaySocket } from './socket/gateway-socket.js';

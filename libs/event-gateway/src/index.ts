export { EventGatewayModule } from './event-gateway.module.js';
export { GatewaySocket } from './gateway-socket.js';

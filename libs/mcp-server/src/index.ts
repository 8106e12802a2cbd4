export { registerMcpRoutes } from './mcp-routes.js';

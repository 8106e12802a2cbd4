export { registerAguiRoutes } from './agui-routes.js';

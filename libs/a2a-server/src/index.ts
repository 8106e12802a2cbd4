export { A2aServerModule } from './a2a-server.module.js';
export { registerAiCatalogRoutes } from './ai-catalog/catalog-routes.js';
export { CatalogSigner } from './ai-catalog/catalog-signer.js';
export { answerUnreadableAddress, registerA2aRoutes } from './a2a-routes.js';
export { IDEMPOTENCY, IDEMPOTENCY_KEY } from './extensions.js';
export { GrpcServer } from './grpc/grpc-server.js';
export { InProcessHandler } from './in-process-handler.js';
export { publicError } from './public-error.js';
export { RequestHandler } from './request-handler.js';

import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { LocalAgentTransport } from './local-agent-transport.js';
import { RequestHandler } from './request-handler.js';

/** The operations of A2A for Nest. Its HTTP routes are Fastify's own: see registerA2aRoutes. */
@Module({})
export class A2aServerModule {
  /** @param imports modules that export AgentCatalog, ExecutionRegistry, TaskStore and TaskFeed */
  static with(...imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: A2aServerModule,
      imports,
      providers: [RequestHandler, LocalAgentTransport],
      exports: [RequestHandler, LocalAgentTransport],
    };
  }
}

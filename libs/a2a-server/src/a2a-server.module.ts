import { type DynamicModule, type FactoryProvider, Module, type ModuleMetadata } from '@nestjs/common';
import { Authentication } from '#libs/access';
import { ServiceAddress, SigningKeys } from '#libs/http-server';
import { PushConfigs } from '#libs/push';
import { AppConfig } from '#libs/service';
import { cardSecurity } from './cards/agent-card.js';
import { CardSigner, ServedCards } from './cards/served-cards.js';
import { InProcessHandler } from './in-process-handler.js';
import { RequestHandler } from './request-handler.js';

const CARDS: FactoryProvider<ServedCards> = {
  provide: ServedCards,
  inject: [
    AppConfig,
    ServiceAddress,
    SigningKeys,
    { token: Authentication, optional: true },
    { token: PushConfigs, optional: true },
  ],
  useFactory: (
    config: AppConfig,
    address: ServiceAddress,
    keys: SigningKeys,
    authentication?: Authentication,
    push?: PushConfigs,
  ) =>
    new ServedCards({
      address,
      pushNotifications: push !== undefined,
      security: authentication?.required ? cardSecurity(config.auth.mode) : undefined,
      signer: config.cards.signing ? new CardSigner(keys, address) : undefined,
      maxAgeMs: config.cards.maxAgeMs,
    }),
};

/** Operations of A2A as a Nest module. Its HTTP routes are Fastify's own: see registerA2aRoutes. */
@Module({})
export class A2aServerModule {
  /** @param imports modules that export AgentCatalog, ExecutionRegistry, TaskStore and TaskFeed */
  static withImports(...imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: A2aServerModule,
      imports,
      providers: [CARDS, RequestHandler, InProcessHandler],
      exports: [RequestHandler, InProcessHandler],
    };
  }
}

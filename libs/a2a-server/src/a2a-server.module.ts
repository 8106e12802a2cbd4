import { type FactoryProvider, Module } from '@nestjs/common';
import { Authentication } from '#libs/access';
import { ExecutorModule } from '#libs/executor';
import { ServiceAddress, SigningKeys } from '#libs/http-server';
import { PushModule } from '#libs/push';
import { AppConfig } from '#libs/service';
import { cardSecurity } from './cards/agent-card.js';
import { CardSigner, ServedCards } from './cards/served-cards.js';
import { InProcessHandler } from './in-process-handler.js';
import { RequestHandler } from './request-handler.js';

const CARDS: FactoryProvider<ServedCards> = {
  provide: ServedCards,
  inject: [AppConfig, ServiceAddress, SigningKeys, Authentication],
  useFactory: (config: AppConfig, address: ServiceAddress, keys: SigningKeys, authentication: Authentication) =>
    new ServedCards({
      address,
      pushNotifications: true,
      security: authentication.required ? cardSecurity(config.auth.mode) : undefined,
      signer: config.cards.signing ? new CardSigner(keys, address) : undefined,
      maxAgeMs: config.cards.maxAgeMs,
    }),
};

/**
 * Operations of A2A as a Nest module. Its HTTP routes are registered by `registerA2aRoutes`. Requires AccessModule, a
 * global AgentCatalog, and the other global modules that `src/app.module.ts` imports. With RevisionClaimModule
 * (libs/executor) as a global module, other replicas may also call an agent in a given revision.
 */
@Module({
  imports: [ExecutorModule, PushModule],
  providers: [CARDS, RequestHandler, InProcessHandler],
  exports: [RequestHandler, InProcessHandler],
})
export class A2aServerModule {}

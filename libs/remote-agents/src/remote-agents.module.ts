import { Module } from '@nestjs/common';
import { CardGuard } from '#libs/a2a-client';
import { OutboundHttp } from '#libs/http-client';
import { ServiceAddress } from '#libs/http-server';
import { AppConfig, Facts, Metrics } from '#libs/service';
import { CardPreviews } from './api/card-preview.js';
import { CardPreviewController, CardsController } from './api/cards.controller.js';
import { CardPins, CardPurgeJob } from './card-pins.js';
import { CardKeys, CardSignatures } from './card-signatures.js';
import { RemoteAgentCards } from './remote-agent-cards.js';
import { ChangedCards, RemoteAgentWatch } from './remote-agent-watch.js';

/**
 * Provides the checks of the cards of remote agents, and the API of the cards. Needs the modules of the ground layer
 * and AccessModule.
 */
@Module({
  controllers: [CardsController, CardPreviewController],
  providers: [
    RemoteAgentCards,
    CardPreviews,
    CardPurgeJob,
    CardPins,
    ChangedCards,
    {
      provide: CardSignatures,
      inject: [OutboundHttp, AppConfig],
      useFactory: (http: OutboundHttp, { cards }: AppConfig) =>
        new CardSignatures(new CardKeys(http, cards.trustedKeys)),
    },
    {
      provide: CardGuard,
      inject: [AppConfig, CardSignatures, CardPins, Metrics, Facts, ServiceAddress],
      useFactory: (
        { cards }: AppConfig,
        signatures: CardSignatures,
        pins: CardPins,
        metrics: Metrics,
        facts: Facts,
        address: ServiceAddress,
      ) =>
        new RemoteAgentWatch({
          config: cards,
          signatures,
          pins,
          metrics,
          facts,
          isOwn: (agentUrl) =>
            agentUrl === `${address.internalUrl}/a2a` || agentUrl.startsWith(`${address.internalUrl}/a2a/`),
        }),
    },
  ],
  exports: [CardGuard, RemoteAgentCards],
})
export class RemoteAgentsModule {}

import { Module } from '@nestjs/common';
import { CardGuard } from '#libs/a2a-client';
import { ServiceAddress } from '#libs/http';
import { OutboundHttp } from '#libs/outbound';
import { AppConfig, Facts, Metrics } from '#libs/service';
import { ChangedCards } from './changed-cards.js';
import { CardPreviews } from './api/card-preview.js';
import { CardsController } from './api/cards.controller.js';
import { CardPreviewController } from './api/card-preview.controller.js';
import { RemoteAgentCards } from './remote-agent-cards.js';
import { RemoteAgentWatch } from './remote-agent-watch.js';
import { CardKeys } from './card-keys.js';
import { CardPins } from './card-pins.js';
import { CardPurgeJob } from './card-purge-job.js';
import { CardSignatures } from './card-signatures.js';

/** Trust in the cards of remote agents. Needs the base modules and AccessModule. */
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

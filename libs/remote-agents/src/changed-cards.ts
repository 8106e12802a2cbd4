import { Injectable, Logger } from '@nestjs/common';
import { type FactPayloads, OnFact } from '#libs/service';

/** Tells operators of agents elsewhere whose cards have changed: a line of the log, and one of the audit log. */
@Injectable()
export class ChangedCards {
  private readonly logger = new Logger(ChangedCards.name);
  private readonly auditLogger = new Logger('Audit');

  @OnFact('card.changed')
  log({ url, paths, policy, significant }: FactPayloads['card.changed']): void {
    if (significant && policy !== 'allow') this.logger.warn({ url, paths, policy }, "An agent's card has changed");
    else this.logger.log({ url, paths }, "An agent's card has changed");
  }

  @OnFact('card.changed')
  audit({ url, tenant, policy, blocked }: FactPayloads['card.changed']): void {
    this.auditLogger.log({ card: { url, tenant, policy, blocked } }, 'The card of an agent has changed');
  }
}

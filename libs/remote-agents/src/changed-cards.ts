import { Injectable, Logger } from '@nestjs/common';
import { type FactPayloads, Metrics, OnFact } from '#libs/service';

/** Reports changed cards of remote agents to operators: in the log, the audit log and a metric. */
@Injectable()
export class ChangedCards {
  private readonly logger = new Logger(ChangedCards.name);
  private readonly auditLogger = new Logger('Audit');
  private readonly changed;

  constructor(metrics: Metrics) {
    const description = "Agents' cards that changed, as found by this replica, by CARD_CHANGE_POLICY and its effect";
    this.changed = metrics.counter('parley_cards_changed_total', description, ['policy', 'blocked']);
  }

  @OnFact('card.changed')
  countChange({ policy, blocked }: FactPayloads['card.changed']): void {
    this.changed.inc({ policy, blocked: String(blocked) });
  }

  @OnFact('card.changed')
  logChange({ url, paths, policy, significant }: FactPayloads['card.changed']): void {
    if (significant && policy !== 'allow') this.logger.warn({ url, paths, policy }, "An agent's card has changed");
    else this.logger.log({ url, paths }, "An agent's card has changed");
  }

  @OnFact('card.changed')
  auditChange({ url, tenant, policy, blocked }: FactPayloads['card.changed']): void {
    this.auditLogger.log({ card: { url, tenant, policy, blocked } }, 'The card of an agent has changed');
  }
}

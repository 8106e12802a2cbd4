import { Injectable, Logger } from '@nestjs/common';
import { Jobs } from '#libs/jobs';
import { AppConfig } from '#libs/service';
import { CardPins } from './card-pins.js';

const NAME = 'callees.purge';
const EVERY_NIGHT = '7 3 * * *';

/** Deletes the pins of agents not called for `CARD_RETENTION`; without it pins are kept indefinitely. */
@Injectable()
export class CardPurgeJob {
  private readonly logger = new Logger(CardPurgeJob.name);

  constructor(
    jobs: Jobs,
    { cards }: AppConfig,
    private readonly pins: CardPins,
  ) {
    const { retentionMs } = cards;
    if (retentionMs === undefined) return;
    jobs.registerHandler(NAME, {
      purpose: 'upkeep',
      read: () => undefined,
      run: (_payload, { signal }) => this.purgeCards(retentionMs, signal),
    });
    jobs.scheduleCron({ name: NAME, match: EVERY_NIGHT });
  }

  private async purgeCards(retentionMs: number, signal: AbortSignal): Promise<void> {
    const unseenSince = new Date(Date.now() - retentionMs);
    const cards = await this.pins.forgetUnused(unseenSince, signal);
    if (cards > 0) this.logger.log({ cards, unseenSince }, 'Forgot the cards of agents that are not called any more');
    signal.throwIfAborted();
  }
}

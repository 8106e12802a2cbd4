import { Logger } from '@nestjs/common';

/** Calls of one handler that may be unfinished at once; facts that come meanwhile pass it by. */
export const MOST_UNFINISHED_CALLS = 1_000;

/**
 * Calls a handler that is not of this service.
 *
 * - The handler gets a copy of each fact: what it changes, nobody else sees.
 * - What it throws, or rejects with, is logged.
 * - A handler that does not come to an end is not called again; that is logged once, until it has ended a call.
 */
export class FactSubscriber {
  private readonly logger = new Logger('Facts');
  private unfinished = 0;
  private isPassedBy = false;

  /** @param source named in the log */
  constructor(
    private readonly name: string,
    private readonly handle: (fact: never) => unknown,
    private readonly source: string,
  ) {}

  /** Never rejects. */
  async receive(fact: object): Promise<void> {
    if (this.unfinished >= MOST_UNFINISHED_CALLS) return this.passBy();
    this.unfinished += 1;
    try {
      await this.handle(structuredClone(fact) as never);
    } catch (error) {
      this.logger.error({ err: error, fact: this.name, source: this.source }, 'A listener to a fact failed');
    } finally {
      this.unfinished -= 1;
      this.isPassedBy = false;
    }
  }

  private passBy(): void {
    if (this.isPassedBy) return;
    this.isPassedBy = true;
    const [fact, { source, unfinished }] = [this.name, this];
    this.logger.warn({ fact, source, unfinished }, 'A listener to a fact is too slow and misses facts');
  }
}

import { Logger } from '@nestjs/common';

/** Maximum number of unfinished calls of one handler; facts that arrive meanwhile are skipped for it. */
export const MOST_UNFINISHED_CALLS = 1_000;

/**
 * Calls an external handler of facts.
 *
 * - The handler gets a copy of each fact, so its changes are visible to no other handler.
 * - Exceptions and rejections of the handler are logged.
 * - A handler with too many unfinished calls is not called again until one ends. One warning is logged.
 */
export class FactSubscriber {
  private readonly logger = new Logger('Facts');
  private unfinished = 0;
  private isPassedBy = false;

  /** @param source name of the handler in the log */
  constructor(
    private readonly name: string,
    private readonly handle: (fact: never) => unknown,
    private readonly source: string,
  ) {}

  /** Calls the handler. Never rejects. */
  async handleFact(fact: object): Promise<void> {
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

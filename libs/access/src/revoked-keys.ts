import { Injectable, Logger } from '@nestjs/common';
import { type FactPayloads, Metrics, OnFact } from '#libs/service';

/** Reports revoked and replaced API keys to operators: a line of the audit log and a count. */
@Injectable()
export class RevokedKeys {
  private readonly logger = new Logger('Audit');
  private readonly revoked;

  constructor(metrics: Metrics) {
    this.revoked = metrics.counter(
      'parley_keys_revoked_total',
      'API keys that were revoked or replaced at this replica',
    );
  }

  @OnFact('key.revoked')
  countRevocation(): void {
    this.revoked.inc();
  }

  @OnFact('key.revoked')
  logRevocation(key: FactPayloads['key.revoked']): void {
    this.logger.log({ key }, 'A key was revoked');
  }
}

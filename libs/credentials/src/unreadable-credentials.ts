import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Readiness } from '#libs/service';
import { CredentialStore } from './credential-store.js';

/** Milliseconds until a call of `/health/ready` counts the unreadable credentials again. */
const COUNTED_MS = 60_000;

/**
 * Warns the operator about stored credentials that no key in `CREDENTIALS_KEY` decrypts, for example after a restore
 * with another key. The warning is a remark in the answer of `/health/ready` and at the start of the service. Calls
 * with such a credential fail.
 */
@Injectable()
export class UnreadableCredentials implements OnApplicationBootstrap {
  private unreadable = 0;
  private countedAt = -Infinity;

  constructor(
    private readonly store: CredentialStore,
    readiness: Readiness,
  ) {
    readiness.addRemark('credentials', () => this.createRemark());
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.countSecrets();
  }

  private createRemark(): string | undefined {
    if (performance.now() - this.countedAt > COUNTED_MS) void this.countSecrets();
    if (this.unreadable === 0) return undefined;
    return `No key in CREDENTIALS_KEY decrypts ${this.unreadable} of the stored credentials: calls that need them fail`;
  }

  /** Counts the unreadable secrets. If the query fails, the last count stays. */
  private async countSecrets(): Promise<void> {
    this.countedAt = performance.now();
    this.unreadable = await this.store.countUnreadable().catch(() => this.unreadable);
  }
}

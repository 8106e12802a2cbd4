import { Injectable, Logger } from '@nestjs/common';
import { CredentialStore } from './credential-store.js';
import type { UsableCredential } from './credential.js';

/** How often a use is noted, and the same error. */
const PAUSE_MS = 10_000;
const MOST_KEPT = 10_000;
const LONGEST_ERROR = 500;

/** Notes when credentials were used last, and what went wrong. Nobody waits for it, and no call fails with it. */
@Injectable()
export class CredentialUse {
  private readonly logger = new Logger(CredentialUse.name);
  private readonly noted = new Map<string, number>();

  constructor(private readonly store: CredentialStore) {}

  used(credential: UsableCredential): void {
    this.note(credential, 'used', { usedAt: new Date() });
  }

  /** @param message without any secret */
  failed(credential: UsableCredential, message: string): void {
    this.note(credential, message, { error: message.slice(0, LONGEST_ERROR) });
  }

  private note(credential: UsableCredential, what: string, values: { usedAt?: Date; error?: string }): void {
    const key = `${credential.version}/${what}`;
    const now = performance.now();
    if (now < (this.noted.get(key) ?? -Infinity) + PAUSE_MS) return;
    this.noted.delete(key);
    this.noted.set(key, now);
    if (this.noted.size > MOST_KEPT) this.noted.delete(this.noted.keys().next().value!);
    this.store.note(credential, values).catch((error: unknown) => {
      this.logger.warn({ err: error, credential: credential.name }, 'The use of a credential could not be noted');
    });
  }
}

import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { textStart } from '#libs/protocol';
import { CredentialStore } from './credential-store.js';
import type { UsableCredential } from './credential.js';

/** Minimum milliseconds between two notes of a use, or of the same error. */
const PAUSE_MS = 10_000;
const LONGEST_ERROR = 500;

/** Records the last use of credentials, and their last error. No call waits for it or fails with it. */
@Injectable()
export class CredentialUse {
  private readonly logger = new Logger(CredentialUse.name);
  private readonly noted = new LRUCache<string, true>({ max: 10_000, ttl: PAUSE_MS });

  constructor(private readonly store: CredentialStore) {}

  noteUsed(credential: UsableCredential): void {
    this.noteOnce(credential, 'used', { usedAt: new Date() });
  }

  /** Records an error. @param message text without secrets */
  noteFailed(credential: UsableCredential, message: string): void {
    this.noteOnce(credential, message, { error: textStart(message, LONGEST_ERROR) });
  }

  private noteOnce(credential: UsableCredential, what: string, values: { usedAt?: Date; error?: string }): void {
    const key = `${credential.version}/${what}`;
    if (this.noted.has(key)) return;
    this.noted.set(key, true);
    this.store.noteUse(credential, values).catch((error: unknown) => {
      this.logger.warn({ err: error, credential: credential.name }, 'The use of a credential could not be noted');
    });
  }
}

import { Injectable, Logger } from '@nestjs/common';
import { CredentialStore } from '#libs/credentials';
import { ProblemError } from '#libs/http-server';
import { UnreadableSecret } from '#libs/postgres';
import type { Trigger } from '../storage/triggers.js';
import type { WebhookSource } from './webhook-source.js';

/** Kind of the credentials that hold secrets of webhooks. */
const KIND = 'bearer';

/** Reads the secrets of webhooks from the credentials of the tenant. */
@Injectable()
export class WebhookSecrets {
  private readonly logger = new Logger(WebhookSecrets.name);

  constructor(private readonly credentials: CredentialStore) {}

  /** Returns the secrets that may have signed a delivery; those that are missing or unreadable are left out. */
  async readSecrets({ tenant, name, source: { webhook } }: Trigger): Promise<string[]> {
    const found = await Promise.all((webhook?.secrets ?? []).map((it) => this.readSecret(tenant, it)));
    const secrets = found.filter((it) => it !== undefined);
    if (secrets.length === 0) this.logger.warn({ trigger: name }, 'The secrets of a trigger cannot be read');
    return secrets;
  }

  /** Requires that the credentials of a webhook exist and hold a token. @throws ProblemError 422 */
  async requireSecrets({ secrets }: WebhookSource, tenant: string): Promise<void> {
    const found = await Promise.all(secrets.map((name) => this.credentials.get({ tenant, name })));
    const faults = secrets.flatMap((name, index) => {
      const path = `webhook.secrets[${index}]`;
      if (!found[index]) return [{ path, detail: `the credential "${name}" does not exist` }];
      return found[index].settings.kind === KIND
        ? []
        : [{ path, detail: `the credential "${name}" must have the kind "${KIND}"` }];
    });
    if (faults.length > 0) throw new ProblemError(422, faults.map(({ detail }) => detail).join('; '), faults);
  }

  private async readSecret(tenant: string, name: string): Promise<string | undefined> {
    try {
      const found = await this.credentials.findUsable({ tenant, name }, undefined, ({ kind }) => kind === KIND);
      return found?.secret;
    } catch (error) {
      if (error instanceof UnreadableSecret) return undefined;
      throw error;
    }
  }
}

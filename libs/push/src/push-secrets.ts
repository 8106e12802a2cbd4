import { Injectable } from '@nestjs/common';
import { SecretBox, UnreadableSecret } from '#libs/postgres';

/** Secrets of a config, which only its receiver may learn. */
export interface PushSecrets {
  token?: string;
  credentials?: string;
}

/** Task and id of a config: its secrets open for no other config. */
export interface ConfigPlace {
  taskId: string;
  configId: string;
}

/** Secrets of a row: sealed, or plain if they were stored before secrets were sealed. */
export interface KeptSecrets extends ConfigPlace {
  sealed: string | null;
  token: string | null;
  credentials: string | null;
}

/** Seals the secrets of configs for the database and opens them again. */
@Injectable()
export class PushSecretBox {
  constructor(private readonly box: SecretBox) {}

  /** Seals the secrets; returns `null` if there are none. */
  sealSecrets({ taskId, configId }: ConfigPlace, { token, credentials }: PushSecrets): string | null {
    if (token === undefined && credentials === undefined) return null;
    return this.box.seal(JSON.stringify({ token, credentials }), configPlace(taskId, configId));
  }

  /** Opens the secrets. @throws UnreadableSecret */
  openSecrets({ taskId, configId, sealed, token, credentials }: KeptSecrets): PushSecrets {
    if (sealed !== null) return JSON.parse(this.box.open(sealed, configPlace(taskId, configId))) as PushSecrets;
    return { ...(token !== null && { token }), ...(credentials !== null && { credentials }) };
  }

  /** Opens the secrets; returns `undefined` if no key opens them. */
  openIfReadable(kept: KeptSecrets): PushSecrets | undefined {
    try {
      return this.openSecrets(kept);
    } catch (error) {
      if (error instanceof UnreadableSecret) return undefined;
      throw error;
    }
  }
}

function configPlace(taskId: string, configId: string): string[] {
  return ['push_config', taskId, configId];
}

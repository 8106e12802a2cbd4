import { Injectable } from '@nestjs/common';
import { SecretBox, UnreadableSecret } from '#libs/postgres';

/** What of a config nobody but its receiver may learn. */
export interface PushSecrets {
  token?: string;
  credentials?: string;
}

/** A config by its Task and its id: its secrets are sealed for no other. */
export interface ConfigPlace {
  taskId: string;
  configId: string;
}

/** Secrets as a row has them: sealed, or in the open where they were kept before secrets were sealed. */
export interface KeptSecrets extends ConfigPlace {
  sealed: string | null;
  token: string | null;
  credentials: string | null;
}

/** Seals the secrets of configs for the database and opens them again. */
@Injectable()
export class PushSecretBox {
  constructor(private readonly box: SecretBox) {}

  /** `null` where there are none. */
  seal({ taskId, configId }: ConfigPlace, { token, credentials }: PushSecrets): string | null {
    if (token === undefined && credentials === undefined) return null;
    return this.box.seal(JSON.stringify({ token, credentials }), placeOf(taskId, configId));
  }

  /** @throws UnreadableSecret */
  open({ taskId, configId, sealed, token, credentials }: KeptSecrets): PushSecrets {
    if (sealed !== null) return JSON.parse(this.box.open(sealed, placeOf(taskId, configId))) as PushSecrets;
    return { ...(token !== null && { token }), ...(credentials !== null && { credentials }) };
  }

  /** `undefined` where they cannot be opened. */
  openIfReadable(kept: KeptSecrets): PushSecrets | undefined {
    try {
      return this.open(kept);
    } catch (error) {
      if (error instanceof UnreadableSecret) return undefined;
      throw error;
    }
  }
}

function placeOf(taskId: string, configId: string): string[] {
  return ['push_config', taskId, configId];
}

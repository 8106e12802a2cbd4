import { Injectable } from '@nestjs/common';
import { SigningKeys } from '#libs/http-server';
import { Jobs, ResealJob } from '#libs/job-queue';
import { Database, SecretBox, UnreadableSecret } from '#libs/postgres';

/** Secrets of a config, which only its receiver may learn. */
export interface PushSecrets {
  token?: string;
  credentials?: string;
}

/** Task and id of a config. Sealed secrets are bound to them: the secrets cannot be opened for another config. */
export interface ConfigPlace {
  taskId: string;
  configId: string;
}

/** Secrets of a stored webhook: sealed, or plain if they were stored before secrets were sealed. */
export interface KeptSecrets extends ConfigPlace {
  sealed: string | null;
  token: string | null;
  credentials: string | null;
}

/** Encrypts (seals) the secrets of configs for the database, and decrypts (opens) them. */
@Injectable()
export class PushSecretBox {
  constructor(private readonly box: SecretBox) {}

  /** Seals the secrets; returns `null` if there are none. */
  sealSecrets({ taskId, configId }: ConfigPlace, { token, credentials }: PushSecrets): string | null {
    if (token === undefined && credentials === undefined) return null;
    return this.box.seal(JSON.stringify({ token, credentials }), configPlace(taskId, configId));
  }

  /**
   * Decrypts the secrets of a config; secrets that were stored plain are returned as they are.
   * @throws UnreadableSecret if no key can decrypt the secrets
   */
  openSecrets({ taskId, configId, sealed, token, credentials }: KeptSecrets): PushSecrets {
    if (sealed !== null) return JSON.parse(this.box.open(sealed, configPlace(taskId, configId))) as PushSecrets;
    return { ...(token !== null && { token }), ...(credentials !== null && { credentials }) };
  }

  /** Decrypts the secrets of a config like `openSecrets`; returns `undefined` if no key can decrypt them. */
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

const PAGE = 500;

interface Row extends KeptSecrets {
  pushId: string;
}

/**
 * Encrypts the secrets of configs and the signing key again, with the current key (reseals them). Secrets that were
 * stored plain are encrypted too. A config that changes meanwhile is skipped, because the writer of the change has
 * encrypted its secrets with the current key.
 */
@Injectable()
export class SealSecretsJob extends ResealJob {
  override readonly unreadableText = 'No key decrypts some secrets of push configs';

  constructor(
    private readonly database: Database,
    jobs: Jobs,
    box: SecretBox,
    private readonly secrets: PushSecretBox,
    private readonly signing: SigningKeys,
  ) {
    super('push.seal-secrets', jobs, box);
  }

  protected override async resealAll(signal: AbortSignal): Promise<number> {
    await this.signing.sealAnew();
    let unreadable = 0;
    for (let after = ''; ;) {
      signal.throwIfAborted();
      const { rows } = await this.database.pool.query<Row>(OPEN, [after, PAGE, this.box.mark]);
      for (const row of rows) if (!(await this.sealOne(row))) unreadable += 1;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return unreadable;
      after = last.pushId;
    }
  }

  private async sealOne(row: Row): Promise<boolean> {
    const secrets = this.secrets.openIfReadable(row);
    if (secrets === undefined) return false;
    const sealed = this.secrets.sealSecrets(row, secrets);
    await this.database.pool.query(SEALED, [row.pushId, sealed, row.sealed, row.token, row.credentials]);
    return true;
  }
}

const OPEN = `
  SELECT push_id AS "pushId", task_id AS "taskId", config_id AS "configId", secrets AS sealed, token, credentials
  FROM push_config
  WHERE push_id > $1 AND deleted_at IS NULL
    AND (token IS NOT NULL OR credentials IS NOT NULL OR NOT starts_with(secrets, $3))
  ORDER BY push_id LIMIT $2`;

const SEALED = `
  UPDATE push_config SET secrets = $2, token = NULL, credentials = NULL
  WHERE push_id = $1 AND secrets IS NOT DISTINCT FROM $3 AND token IS NOT DISTINCT FROM $4
    AND credentials IS NOT DISTINCT FROM $5`;

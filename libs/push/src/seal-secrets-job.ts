import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { SigningKeys } from '#libs/http';
import { Jobs } from '#libs/jobs';
import { Database, expectKey, readSealing, SecretBox, type Sealing, sealingWith } from '#libs/postgres';
import { type KeptSecrets, PushSecretBox } from './push-secrets.js';

const SEAL = 'push.seal-secrets';
const PAGE = 500;

interface Row extends KeptSecrets {
  pushId: string;
}

/**
 * Seals plain secrets, and those of older keys, with the newest key: once after each start, by one replica with that
 * key. A config that changes meanwhile is skipped, since its writer has sealed it.
 */
@Injectable()
export class SealSecretsJob implements OnApplicationBootstrap {
  private readonly logger = new Logger(SealSecretsJob.name);

  constructor(
    private readonly database: Database,
    private readonly jobs: Jobs,
    private readonly box: SecretBox,
    private readonly secrets: PushSecretBox,
    private readonly signing: SigningKeys,
  ) {
    jobs.registerHandler(SEAL, {
      purpose: 'upkeep',
      read: readSealing,
      run: (sealing, { signal }) => this.sealConfigs(sealing, signal),
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.jobs.enqueueJobs([{ name: SEAL, payload: sealingWith(this.box), key: SEAL, priority: 10 }]);
  }

  private async sealConfigs(sealing: Sealing, signal: AbortSignal): Promise<void> {
    expectKey(sealing, this.box);
    await this.signing.sealAnew();
    let unreadable = 0;
    for (let after = ''; ;) {
      signal.throwIfAborted();
      const { rows } = await this.database.pool.query<Row>(OPEN, [after, PAGE, this.box.mark]);
      for (const row of rows) if (!(await this.sealOne(row))) unreadable += 1;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) break;
      after = last.pushId;
    }
    if (unreadable > 0) this.logger.error({ unreadable }, 'Push configs have secrets that no key opens');
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

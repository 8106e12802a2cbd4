import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Jobs } from '#libs/jobs';
import { expectKey, readSealing, SecretBox, type Sealing, sealingWith } from '#libs/postgres';
import { CredentialStore } from './credential-store.js';

const SEAL = 'credentials.seal';

/** Reseals secrets of older keys with the newest key: once after each start, by one replica with that key. */
@Injectable()
export class SealCredentialsJob implements OnApplicationBootstrap {
  private readonly logger = new Logger(SealCredentialsJob.name);

  constructor(
    private readonly jobs: Jobs,
    private readonly store: CredentialStore,
    private readonly box: SecretBox,
  ) {
    jobs.registerHandler(SEAL, {
      purpose: 'upkeep',
      read: readSealing,
      run: (sealing) => this.sealCredentials(sealing),
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.jobs.enqueueJobs([{ name: SEAL, payload: sealingWith(this.box), key: SEAL, priority: 10 }]);
  }

  private async sealCredentials(sealing: Sealing): Promise<void> {
    expectKey(sealing, this.box);
    const unreadable = await this.store.sealAnew();
    if (unreadable > 0) this.logger.error({ unreadable }, 'No key of CREDENTIALS_KEY opens some of the credentials');
  }
}

import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Jobs } from '#libs/jobs';
import { CredentialStore } from './credential-store.js';

const SEAL = 'credentials.seal';

/** Seals with the newest key what an older one sealed: once after each start, by one replica. */
@Injectable()
export class SealCredentialsJob implements OnApplicationBootstrap {
  private readonly logger = new Logger(SealCredentialsJob.name);

  constructor(
    private readonly jobs: Jobs,
    private readonly store: CredentialStore,
  ) {
    jobs.register(SEAL, { read: () => undefined, run: () => this.run() });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.jobs.enqueue([{ name: SEAL, payload: {}, key: SEAL, priority: 10 }]);
  }

  private async run(): Promise<void> {
    const unreadable = await this.store.sealAnew();
    if (unreadable > 0) this.logger.error({ unreadable }, 'No key of CREDENTIALS_KEY opens some of the credentials');
  }
}

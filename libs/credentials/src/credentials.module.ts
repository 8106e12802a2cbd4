import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RequestSigners } from '#libs/a2a-client';
import { CredentialRow } from './credential-row.js';
import { CredentialStore } from './credential-store.js';
import { CredentialUse } from './credential-use.js';
import { CredentialsController } from './credentials.controller.js';
import { OAuthTokens } from './oauth-tokens.js';
import { SealCredentialsJob } from './seal-credentials-job.js';
import { StoredRequestSigners } from './stored-request-signers.js';

/** The credentials that calls to agents carry. Needs the ground's modules. */
@Module({
  imports: [TypeOrmModule.forFeature([CredentialRow])],
  providers: [CredentialStore, CredentialUse, OAuthTokens, { provide: RequestSigners, useClass: StoredRequestSigners }],
  exports: [RequestSigners, CredentialStore],
})
export class CredentialsModule {}

/** Their management API. Needs JobsModule. */
@Module({})
export class CredentialsApiModule {
  /** @param imports who provides CredentialNamers */
  static with(...imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: CredentialsApiModule,
      imports: [CredentialsModule, ...imports],
      controllers: [CredentialsController],
      providers: [SealCredentialsJob],
    };
  }
}

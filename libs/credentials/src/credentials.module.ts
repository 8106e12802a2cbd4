import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RequestSigners } from '#libs/a2a-client';
import { ConfigurationModule } from '#libs/configuration';
import { CredentialObjectKind } from './credential-kind.js';
import { CredentialStore, CredentialUse, SealCredentialsJob } from './credential-store.js';
import { CredentialRow } from './credential-table.js';
import { CredentialsController } from './credentials.controller.js';
import { OAuthTokens } from './oauth-tokens.js';
import { StoredRequestSigners } from './stored-request-signers.js';
import { UnreadableCredentials } from './unreadable-credentials.js';

/** Provides the credentials of calls to agents. Needs the global modules of the service. */
@Module({
  imports: [TypeOrmModule.forFeature([CredentialRow])],
  providers: [CredentialStore, CredentialUse, OAuthTokens, { provide: RequestSigners, useClass: StoredRequestSigners }],
  exports: [RequestSigners, CredentialStore],
})
export class CredentialsModule {}

/** Provides the management API of credentials. Needs JobsModule and a global CredentialNamers. */
@Module({
  imports: [CredentialsModule, ConfigurationModule],
  controllers: [CredentialsController],
  providers: [CredentialObjectKind, SealCredentialsJob, UnreadableCredentials],
})
export class CredentialsApiModule {}

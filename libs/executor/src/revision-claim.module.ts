import { Module } from '@nestjs/common';
import { Database, serviceSecret } from '#libs/postgres';
import { RevisionClaims } from './revision-claim.js';

/** RevisionClaims with the secret that all replicas share. Needs PostgresModule. */
@Module({
  providers: [
    {
      provide: RevisionClaims,
      inject: [Database],
      useFactory: async (database: Database) => new RevisionClaims(await serviceSecret(database, 'revision-claim')),
    },
  ],
  exports: [RevisionClaims],
})
export class RevisionClaimModule {}

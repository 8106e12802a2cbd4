import { Module } from '@nestjs/common';
import { Database, serviceSecret } from '#libs/postgres';
import { HopChains } from './hop-chain.js';

/** HopChains with the secret that all replicas share. Needs PostgresModule. */
@Module({
  providers: [
    {
      provide: HopChains,
      inject: [Database],
      useFactory: async (database: Database) => new HopChains(await serviceSecret(database, 'hop-chain')),
    },
  ],
  exports: [HopChains],
})
export class HopChainModule {}

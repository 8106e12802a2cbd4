import { Global, Module } from '@nestjs/common';
import { Database, ReplicaLife } from '#libs/postgres';
import { Metrics, Shutdown } from '#libs/service';
import { migrateJobQueue } from './job-schema.js';
import { Jobs } from './jobs.js';

/** Module of the job queue. Needs PostgresModule with the migrations of this library. Call `Jobs.start` to run jobs. */
@Global()
@Module({
  providers: [
    {
      provide: Jobs,
      inject: [Database, ReplicaLife, Shutdown, Metrics],
      useFactory: async (database: Database, replica: ReplicaLife, shutdown: Shutdown, metrics: Metrics) => {
        await migrateJobQueue(database);
        return new Jobs(database, replica, shutdown, metrics);
      },
    },
  ],
  exports: [Jobs],
})
export class JobsModule {}

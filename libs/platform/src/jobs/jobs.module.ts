import { Global, Module } from '@nestjs/common';
import { Database } from '../database/database.js';
import { Metrics } from '../operations/metrics.js';
import { Shutdown } from '../operations/shutdown.js';
import { ReplicaLife } from '../replica/replica-life.js';
import { migrateJobQueue } from './job-schema.js';
import { Jobs } from './jobs.js';

/** The job queue, for processes that have use for one. Needs PlatformModule; `Jobs.start` begins the work. */
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

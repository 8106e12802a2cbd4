import { Module } from '@nestjs/common';
import { Database, serviceSecret } from '#libs/postgres';
import { TasksModule } from '#libs/tasks';
import { ChildEndings } from './cancel-poller.js';
import { ExecutionRegistry } from './execution-registry.js';
import { RevisionClaims } from './execution.js';
import { TaskTracing } from './task-tracing.js';
import { TaskRecovery } from './task-recovery.js';

/**
 * Module that executes agents. Needs TracingModule, JobsModule and HttpModule, and a global AgentCatalog. If a global
 * PartKeeper is provided, large Parts of Messages are stored as files.
 */
@Module({
  imports: [TasksModule],
  providers: [ExecutionRegistry, TaskTracing, ChildEndings, TaskRecovery],
  exports: [ExecutionRegistry, ChildEndings, TasksModule],
})
export class ExecutorModule {}

/** Module of RevisionClaims with the secret that all replicas share. Needs PostgresModule. */
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

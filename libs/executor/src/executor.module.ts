import { Module } from '@nestjs/common';
import { Database, serviceSecret } from '#libs/postgres';
import { AppConfig, InFlight, LoopShares, Metrics } from '#libs/service';
import { TasksModule } from '#libs/tasks';
import { BuiltInAgents } from './agent-catalog.js';
import { CallChains } from './call-chain.js';
import { ChildEndings } from './cancel-poller.js';
import { ExecutionRegistry } from './execution-registry.js';
import { RevisionClaims } from './execution.js';
import { TaskTracing } from './spans/task-tracing.js';
import { TaskRecovery } from './task-recovery.js';
import { WorkBudget, workBudget } from './work/work-budget.js';

/**
 * Module that executes agents. Needs TracingModule, JobsModule and HttpModule, and a global AgentCatalog. With a global
 * PartKeeper, large Parts of Messages become files.
 */
@Module({
  imports: [TasksModule],
  providers: [ExecutionRegistry, TaskTracing, ChildEndings, TaskRecovery],
  exports: [ExecutionRegistry, ChildEndings, TasksModule],
})
export class ExecutorModule {}

/** Module that shares one BuiltInAgents between the built-in agents and the catalog. */
@Module({ providers: [BuiltInAgents], exports: [BuiltInAgents] })
export class BuiltInAgentsModule {}

/** Module of CallChains with the secret that all replicas share. Needs PostgresModule. */
@Module({
  providers: [
    {
      provide: CallChains,
      inject: [Database],
      useFactory: async (database: Database) => new CallChains(await serviceSecret(database, 'hop-chain')),
    },
  ],
  exports: [CallChains],
})
export class CallChainModule {}

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

/** Module of the WorkBudget of the process. Needs ServiceModule. */
@Module({
  providers: [{ provide: WorkBudget, inject: [AppConfig, InFlight, Metrics, LoopShares], useFactory: workBudget }],
  exports: [WorkBudget],
})
export class WorkBudgetModule {}

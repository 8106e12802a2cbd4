import { Module } from '@nestjs/common';
import { BuiltInAgents, BuiltInAgentsModule, CallChainModule } from '#libs/agents';
import { Processes, ProcessStreams } from '#libs/durable';
import { ExecutorModule } from '#libs/executor';
import { TasksModule } from '#libs/tasks';
import { Approvals, PostgresApprovals } from '../approvals.js';
import { BrainstormAgent } from '../brainstorm-executor.js';
import { BrainstormNode } from '../brainstorm-node.js';
import { BrainstormServices } from '../brainstorm-run.js';
import { BrainstormSetup, CredentialSetup } from './brainstorm-setup.js';
import { BrainstormsController } from './brainstorms.controller.js';
import { Brainstorms } from './brainstorms.js';

/**
 * Provides brainstorms as an agent of the service and as a node type. Requires the global modules of the service, and
 * a global AgentDirectory and RequestSigners.
 */
@Module({
  imports: [TasksModule, BuiltInAgentsModule, CallChainModule],
  providers: [
    { provide: Approvals, useClass: PostgresApprovals },
    BrainstormServices,
    { provide: BrainstormAgent, inject: [BuiltInAgents, BrainstormServices], useFactory: publishBrainstormAgent },
    BrainstormNode,
  ],
  exports: [Approvals, BrainstormAgent, BrainstormNode],
})
export class BrainstormModule {}

function publishBrainstormAgent(own: BuiltInAgents, services: BrainstormServices): BrainstormAgent {
  const agent = new BrainstormAgent(services);
  own.add(agent);
  return agent;
}

/** Management API of brainstorms. Requires a global AgentCatalog besides the globals of BrainstormModule. */
@Module({
  imports: [ExecutorModule, BrainstormModule],
  controllers: [BrainstormsController],
  providers: [Processes, ProcessStreams, Brainstorms, BrainstormSetup, CredentialSetup],
})
export class BrainstormApiModule {}

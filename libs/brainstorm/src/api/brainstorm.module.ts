import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { CallChainModule, BuiltInAgents, BuiltInAgentsModule } from '#libs/executor';
import { TasksModule } from '#libs/tasks';
import { Approvals } from '../approvals.js';
import { BrainstormAgent } from '../brainstorm-agent.js';
import { BrainstormNode } from '../brainstorm-node.js';
import { BrainstormServices } from '../brainstorm-services.js';
import { PostgresApprovals } from '../storage/postgres-approvals.js';

/** Brainstorms as an agent of the service and as a node type. Requires the ground's modules. */
@Module({})
export class BrainstormModule {
  /**
   * @param agents module that exports AgentDirectory
   * @param signers module that exports RequestSigners
   */
  static withAgents(agents: DynamicModule | Type, signers: DynamicModule | Type): DynamicModule {
    return {
      module: BrainstormModule,
      imports: [agents, signers, TasksModule, BuiltInAgentsModule, CallChainModule],
      providers: [
        { provide: Approvals, useClass: PostgresApprovals },
        BrainstormServices,
        { provide: BrainstormAgent, inject: [BuiltInAgents, BrainstormServices], useFactory: publishBrainstormAgent },
        BrainstormNode,
      ],
      exports: [Approvals, BrainstormAgent, BrainstormNode],
    };
  }
}

function publishBrainstormAgent(own: BuiltInAgents, services: BrainstormServices): BrainstormAgent {
  const agent = new BrainstormAgent(services);
  own.add(agent);
  return agent;
}

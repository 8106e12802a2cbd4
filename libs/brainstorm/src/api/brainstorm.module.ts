import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { Processes, ProcessStreams } from '#libs/durable';
import { BuiltInAgents, BuiltInAgentsModule, CallChainModule } from '#libs/executor';
import { TasksModule } from '#libs/tasks';
import { Approvals, PostgresApprovals } from '../approvals.js';
import { BrainstormAgent } from '../brainstorm-executor.js';
import { BrainstormNode } from '../brainstorm-node.js';
import { BrainstormServices } from '../brainstorm-run.js';
import { BrainstormSetup, CredentialSetup } from './brainstorm-setup.js';
import { BrainstormsController } from './brainstorms.controller.js';
import { Brainstorms } from './brainstorms.js';

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

/** Management API of brainstorms. */
@Module({})
export class BrainstormApiModule {
  /** @param imports ExecutorModule, BrainstormModule, and modules that export AgentDirectory and RequestSigners */
  static withImports(...imports: (DynamicModule | Type)[]): DynamicModule {
    return {
      module: BrainstormApiModule,
      imports,
      controllers: [BrainstormsController],
      providers: [Processes, ProcessStreams, Brainstorms, BrainstormSetup, CredentialSetup],
    };
  }
}

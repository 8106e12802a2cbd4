import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BuiltInAgentsModule } from '#libs/agents';
import { TasksModule } from '#libs/tasks';
import { RegisteredAgentRow } from './agents/registered-agent-tables.js';
import { RegisteredAgents } from './agents/registered-agents.js';
import { RegisteredAgentsController } from './api/registered-agents.controller.js';
import { RelayLimits } from './relay/relay-limits.js';
import { RelayTasks } from './relay/relay-tasks.js';
import { RegisteredAgentSource } from './relay/registered-agent-source.js';

/**
 * Provides the agents at `agents/{name}`, and the API that manages them. The module is global: one import gives
 * RegisteredAgents to all other modules. Needs the modules of the ground layer and a global AgentDirectory.
 */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([RegisteredAgentRow]), BuiltInAgentsModule, TasksModule],
  controllers: [RegisteredAgentsController],
  providers: [RegisteredAgents, RelayLimits, RelayTasks, RegisteredAgentSource],
  exports: [RegisteredAgents],
})
export class RegisteredAgentsModule {}

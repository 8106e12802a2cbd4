import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BuiltInAgentsModule } from '#libs/agents';
import { ConfigurationModule } from '#libs/configuration';
import { TasksModule } from '#libs/tasks';
import { RegisteredAgentRow } from './agents/registered-agent-tables.js';
import { RegisteredAgents } from './agents/registered-agents.js';
import { AgentNotificationsController } from './api/agent-notifications.controller.js';
import { RegisteredAgentKind } from './api/registered-agent-kind.js';
import { RegistrationCheck } from './api/registration-check.js';
import { RegisteredAgentsController } from './api/registered-agents.controller.js';
import { NotificationSignatures } from './relay/notification-signatures.js';
import { RelayLimits } from './relay/relay-limits.js';
import { RelayPolls } from './relay/relay-polls.js';
import { RelayRemoval } from './relay/relay-removal.js';
import { RelayTasks } from './relay/relay-tasks.js';
import { RelayWebhooks } from './relay/relay-webhooks.js';
import { RegisteredAgentSource } from './relay/registered-agent-source.js';

/**
 * Provides the agents at `agents/{name}`, and the API that manages them. The module is global: one import gives
 * RegisteredAgents to all other modules. Needs the modules of the ground layer and a global AgentDirectory.
 */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([RegisteredAgentRow]), BuiltInAgentsModule, TasksModule, ConfigurationModule],
  controllers: [RegisteredAgentsController, AgentNotificationsController],
  providers: [
    NotificationSignatures,

    RegisteredAgents,
    RelayLimits,
    RelayPolls,
    RelayRemoval,
    RelayTasks,
    RelayWebhooks,
    RegisteredAgentSource,
    RegistrationCheck,
    RegisteredAgentKind,
  ],
  exports: [RegisteredAgents],
})
export class RegisteredAgentsModule {}

import { Module } from '@nestjs/common';
import { AgentDirectory } from '#libs/a2a-client';
import {
  BuiltInAgents,
  BuiltInAgentsModule,
  CallBudgets,
  CallChainModule,
  CallChains,
  type ServedAgent,
} from '#libs/agents';
import { AgentReferences, AgentReferencesModule, AgentTalks, Processes, ProcessStreams } from '#libs/durable';
import { ExecutorModule } from '#libs/executor';
import { TaskFeed, TasksModule, TaskStore } from '#libs/tasks';
import { ConversationBudgets, PostgresConversationBudgets, refuseBeyond } from '../conversation-budget.js';
import type { ConversationServices } from '../conversation-calls.js';
import { ConversationCommands, PostgresConversationCommands } from '../conversation-command.js';
import { conversationAgent } from '../conversation-executor.js';
import { ConversationNode } from '../conversation-node.js';
import { TaskTalks } from '../task-talks.js';
import { AgentMessagesController } from './agent-messages.controller.js';
import { ConversationWaking } from './conversation-waking.js';
import { ConversationsController } from './conversations.controller.js';
import { Conversations } from './conversations.js';

/** Injection token of ConversationServices. */
const SERVICES = Symbol('ConversationServices');
/** Injection token of the `conversations` agent. */
const AGENT = Symbol('ConversationAgent');

/**
 * Provides conversations as an agent and as a node type. Requires the global modules of the service, and a global
 * AgentDirectory.
 */
@Module({
  imports: [AgentReferencesModule, TasksModule, BuiltInAgentsModule, CallChainModule],
  providers: [
    { provide: ConversationCommands, useClass: PostgresConversationCommands },
    { provide: ConversationBudgets, useClass: PostgresConversationBudgets },
    {
      provide: SERVICES,
      inject: [AgentDirectory, AgentReferences, TaskStore, ConversationCommands, CallChains, ConversationBudgets],
      useFactory: servicesOf,
    },
    { provide: ConversationNode, inject: [SERVICES], useFactory: nodeOf },
    { provide: CallBudgets, inject: [ConversationBudgets], useFactory: callBudgetsOf },
    { provide: AgentTalks, inject: [AgentReferences, CallChains, TaskFeed, TaskStore], useFactory: talksOf },
    { provide: AGENT, inject: [BuiltInAgents, SERVICES], useFactory: publishConversationAgent },
  ],
  exports: [ConversationCommands, ConversationNode, AgentTalks, CallBudgets],
})
export class ConversationAgentModule {}

function servicesOf(
  directory: AgentDirectory,
  references: AgentReferences,
  tasks: TaskStore,
  commands: ConversationCommands,
  chains: CallChains,
  budgets: ConversationBudgets,
): ConversationServices {
  return { directory, references, tasks, commands, chains, budgets };
}

/** Returns the budgets for agents that are called as tools. Their calls use the same counters as conversations. */
function callBudgetsOf(budgets: ConversationBudgets): CallBudgets {
  return { spendCall: async (root) => refuseBeyond(await budgets.countCall(root, 'call')) };
}

function talksOf(references: AgentReferences, chains: CallChains, feed: TaskFeed, tasks: TaskStore): AgentTalks {
  return new TaskTalks({ references, chains, feed, tasks });
}

function nodeOf(services: ConversationServices): ConversationNode {
  return new ConversationNode(services);
}

function publishConversationAgent(own: BuiltInAgents, services: ConversationServices): ServedAgent {
  const agent = conversationAgent(services);
  own.add(agent);
  return agent;
}

/** Management API of conversations, and of a person's Messages to remote agents. Requires a global AgentCatalog. */
@Module({
  imports: [ExecutorModule, ConversationAgentModule],
  controllers: [ConversationsController, AgentMessagesController],
  providers: [Processes, ProcessStreams, Conversations, ConversationWaking],
})
export class ConversationsModule {}

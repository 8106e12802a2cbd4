import type { AgentDirectory } from '#libs/a2a-client';
import type { HopChains } from '#libs/executor';
import type { TaskStore } from '#libs/tasks';
import type { AgentReferences } from './agent-references.js';
import type { ConversationBudgets } from './conversation-budget.js';
import type { ConversationCommands } from './conversation-command.js';

/** What every conversation needs of the process that it runs in. */
export interface ConversationServices {
  directory: AgentDirectory;
  references: Pick<AgentReferences, 'resolve' | 'url'>;
  tasks: Pick<TaskStore, 'children'>;
  commands: ConversationCommands;
  hops: HopChains;
  budgets: ConversationBudgets;
}

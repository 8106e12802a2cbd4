import type { ProcessServices } from '#libs/process';
import type { AgentReferences } from './agent-references.js';
import type { ConversationBudgets } from './conversation-budget.js';
import type { ConversationCommands } from './conversation-command.js';

/** What every conversation needs of the process that it runs in. */
export interface ConversationServices extends ProcessServices {
  references: Pick<AgentReferences, 'resolve' | 'url'>;
  commands: ConversationCommands;
  budgets: ConversationBudgets;
}

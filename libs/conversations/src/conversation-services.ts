import type { AgentReferences, ProcessServices } from '#libs/process';
import type { ConversationBudgets } from './conversation-budget.js';
import type { ConversationCommands } from './conversation-command.js';

/** Services that every conversation uses. */
export interface ConversationServices extends ProcessServices {
  references: Pick<AgentReferences, 'areSame' | 'callTarget' | 'isOwn' | 'refuseUnknown'>;
  commands: ConversationCommands;
  budgets: ConversationBudgets;
}

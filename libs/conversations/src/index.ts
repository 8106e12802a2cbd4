export type { A2aData, A2aEvent, CompleteData, ErrorData, TurnData } from './a2a-event.js';
export { ConversationAgentModule, ConversationsModule } from './api/conversations.module.js';
export type { ConversationSettings, Outcome, Turn } from './conversation.js';
export { ConversationExecutor } from './conversation-executor.js';
export { ConversationNode } from './conversation-node.js';
export type { ConversationView } from './conversation-view.js';
export { CONVERSATION_MIGRATIONS } from './storage/conversation-migrations.js';

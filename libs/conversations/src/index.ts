export { ConversationAgentModule, ConversationsModule } from './api/conversations.module.js';
export { ConversationNode } from './conversation-node.js';
export { CONVERSATION_MIGRATIONS } from './conversation-migrations.js';

import { CONVERSATIONS_PATH, type ServedAgent } from '#libs/executor';
import { invalidParams, type SendMessageRequest } from '#libs/protocol';
import type { ConversationSettings } from './conversation.js';
import { ConversationExecutor } from './conversation-executor.js';
import { requestOf, settingsOf, wholeRequestProblems } from './conversation-request.js';
import type { ConversationServices } from './conversation-services.js';

/** Returns the agent that lets two agents talk, as the data Part of a Message requests. */
export function conversationAgent(services: ConversationServices): ServedAgent {
  const name = 'conversations';
  const description = 'Lets two agents talk with each other, turn by turn, up to a limit';
  const modes = { inputModes: ['application/json', 'text/plain'], outputModes: ['text/plain', 'application/json'] };
  return {
    path: CONVERSATIONS_PATH,
    name,
    description,
    version: '1',
    skills: [{ id: 'converse', name: 'converse', description, tags: ['conversation'], ...modes }],
    ...modes,
    executor: new ConversationExecutor(services, settingsOfMessage),
  };
}

function settingsOfMessage({ message }: Pick<SendMessageRequest, 'message'>): ConversationSettings {
  const body = requestOf(message.parts);
  if (!body)
    throw invalidParams({ field: 'message.parts', description: 'must hold a data part with the conversation' });
  const problems = wholeRequestProblems(body);
  if (problems.length > 0) throw invalidParams(...problems.map(({ field, description }) => ({ field, description })));
  return settingsOf(body);
}

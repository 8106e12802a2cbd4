import type { ServedAgent } from '#libs/executor';
import { type SendMessageRequest, textPart } from '#libs/protocol';
import { readsText } from '../media-types.js';

/**
 * What the alias of a node makes of a Message that says nothing: the order to execute the node. At every other base a
 * Message stays as it was sent, and so it does where it has data or a file, or the node's agent reads no text.
 * @param addressed the agent path that the Message came in at
 */
export function withNodeOrder(addressed: string, agent: ServedAgent, request: SendMessageRequest): SendMessageRequest {
  if (!addressed.startsWith('nodes/') || !readsText(agent)) return request;
  const { message } = request;
  if (message.parts.some(({ text }) => text !== '')) return request;
  const order = agent.executor.order ?? `Execute node ${addressed.slice('nodes/'.length)}`;
  return { ...request, message: { ...message, parts: [textPart(order)] } };
}

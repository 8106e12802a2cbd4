import { dataPart, isJsonObject, type Message, type Part, textPart } from '#libs/protocol';

/** The Message metadata key by which a run names the node that asks, and a caller the node that it answers. */
export const NODE_KEY = 'node';

/**
 * The waiting nodes that a follow-up Message answers: the one its metadata names, else those that keys of its data
 * objects name, else the first. None where the metadata names a node that does not wait.
 */
export function answeredNodes(message: Message, waiting: readonly string[]): string[] {
  const named = message.metadata?.[NODE_KEY];
  if (named !== undefined) return waiting.filter((id) => id === named);
  const byKey = waiting.filter((id) => answersByKey(message, id).length > 0);
  return byKey.length > 0 ? byKey : waiting.slice(0, 1);
}

/** What of a follow-up Message goes down to one node: the value under its id, or the whole Message. */
export function answerParts(message: Message, nodeId: string): Part[] {
  if (message.metadata?.[NODE_KEY] === nodeId) return message.parts;
  const own = answersByKey(message, nodeId);
  return own.length > 0 ? own : message.parts;
}

function answersByKey(message: Message, nodeId: string): Part[] {
  return message.parts.flatMap(({ data }) => {
    if (!isJsonObject(data) || !Object.hasOwn(data, nodeId)) return [];
    const value = data[nodeId] ?? null;
    return [typeof value === 'string' ? textPart(value) : dataPart(value)];
  });
}

import { dataPart, isJsonObject, type JsonValue, type Message, type Part, textPart } from '#libs/protocol';
import type { NodeInstance } from './node-run.js';

/**
 * Message metadata key that names a node: the one that asks, or the one that the caller answers, by node id or instance
 * name.
 */
export const NODE_KEY = 'node';

/** A node that asks a question. */
type Asking = Pick<NodeInstance, 'id' | 'instance'>;

/**
 * Returns the waiting nodes that a follow-up Message answers: the one that its metadata name, else those that the keys
 * of its data objects name, else the first. None if the metadata name a node that does not wait.
 */
export function answeredNodes<N extends Asking>(message: Message, waiting: readonly N[]): N[] {
  const name = message.metadata?.[NODE_KEY];
  if (name !== undefined) return namedNode(waiting, name).slice(0, 1);
  const keys = message.parts.flatMap(({ data }) => (isJsonObject(data) ? Object.keys(data) : []));
  const named = new Set(keys.map((key) => namedNode(waiting, key)[0]));
  const byKey = waiting.filter((node) => named.has(node));
  return byKey.length > 0 ? byKey : waiting.slice(0, 1);
}

/** Returns the part of a follow-up Message for one node: the value under its name, or the whole Message. */
export function answerParts(message: Message, node: Asking): Part[] {
  const name = message.metadata?.[NODE_KEY];
  if (name === node.instance || name === node.id) return message.parts;
  const own = partsUnder(message, node.instance);
  const parts = own.length > 0 ? own : partsUnder(message, node.id);
  return parts.length > 0 ? parts : message.parts;
}

/** Returns the instance of this name, else all waiting instances of the node with this id. */
export function namedNode<N extends Asking>(waiting: readonly N[], name: JsonValue): N[] {
  const exact = waiting.filter(({ instance }) => instance === name);
  return exact.length > 0 ? exact : waiting.filter(({ id }) => id === name);
}

function partsUnder(message: Message, key: string): Part[] {
  return message.parts.flatMap(({ data }) => {
    if (!isJsonObject(data) || !Object.hasOwn(data, key)) return [];
    const value = data[key] ?? null;
    return [typeof value === 'string' ? textPart(value) : dataPart(value)];
  });
}

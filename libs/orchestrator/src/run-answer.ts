import { dataPart, isJsonObject, type JsonValue, type Message, type Part, textPart } from '#libs/protocol';
import type { NodeRun } from './node-run.js';

/**
 * The Message metadata key by which a run names the node that asks, and a caller the node that it answers: by its id, or
 * by the instance of it that asks.
 */
export const NODE_KEY = 'node';

/** A node that asks, as answers name it. */
type Asking = Pick<NodeRun, 'id' | 'instance'>;

/**
 * The waiting nodes that a follow-up Message answers: the one its metadata names, else those that keys of its data
 * objects name, else the first. None where the metadata names a node that does not wait.
 */
export function answeredNodes<N extends Asking>(message: Message, waiting: readonly N[]): N[] {
  const name = message.metadata?.[NODE_KEY];
  if (name !== undefined) return namedNode(waiting, name).slice(0, 1);
  const keys = message.parts.flatMap(({ data }) => (isJsonObject(data) ? Object.keys(data) : []));
  const named = new Set(keys.map((key) => namedNode(waiting, key)[0]));
  const byKey = waiting.filter((node) => named.has(node));
  return byKey.length > 0 ? byKey : waiting.slice(0, 1);
}

/** What of a follow-up Message goes down to one node: the value under its name, or the whole Message. */
export function answerParts(message: Message, node: Asking): Part[] {
  const name = message.metadata?.[NODE_KEY];
  if (name === node.instance || name === node.id) return message.parts;
  const own = partsUnder(message, node.instance);
  const parts = own.length > 0 ? own : partsUnder(message, node.id);
  return parts.length > 0 ? parts : message.parts;
}

/** Those that a name can mean: the instance of that name, else all that ask of the node with that id. */
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

import { isJsonObject, type JsonObject, type JsonValue, type Message } from '#libs/protocol';
import type { WorkflowDefinition } from './workflow.js';

const USER_INPUT = '__user_input__';

/** The name under which an input stands in a run's state and Artifacts (row C11). */
export function userInputName(nodeId: string): string {
  return `${USER_INPUT}${nodeId}`;
}

/** The node whose input a name of `userInputName` stands for. */
export function userInputNode(name: string): string | undefined {
  return name.startsWith(USER_INPUT) ? name.slice(USER_INPUT.length) : undefined;
}

/** The value of an input, `undefined` where none was given. */
export function inputValue(inputs: JsonObject, nodeId: string): JsonValue | undefined {
  return Object.hasOwn(inputs, nodeId) ? inputs[nodeId] : undefined;
}

/** The string form of an input: a string as it is, anything else as JSON. */
export function inputText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * The inputs that a Message to a workflow carries: the keys of its data objects by node id, and its text for every
 * `input` node that they do not name.
 */
export function inputsOf(message: Message, definition: WorkflowDefinition): JsonObject {
  const named = message.parts.flatMap(({ data }) => (isJsonObject(data) ? Object.entries(data) : []));
  const texts = message.parts.flatMap(({ text }) => (text === undefined ? [] : [text]));
  const byText = texts.length === 0 ? [] : definition.nodes.filter((node) => node.type === 'input');
  return Object.fromEntries([...byText.map(({ id }) => [id, texts.join('\n')] as const), ...named]);
}

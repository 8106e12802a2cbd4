import { ContentTooLarge, isJsonObject, type JsonObject, type JsonValue, type Message } from '#libs/protocol';
import type { WorkflowDefinition } from './workflow.js';

const USER_INPUT = '__user_input__';

/** Returns the name of an input in a run's state and Artifacts. */
export function userInputName(nodeId: string): string {
  return `${USER_INPUT}${nodeId}`;
}

/** Returns the node id of a name from `userInputName`; `undefined` for other names. */
export function userInputNode(name: string): string | undefined {
  return name.startsWith(USER_INPUT) ? name.slice(USER_INPUT.length) : undefined;
}

/** Returns the value of an input; `undefined` if it was not given. */
export function inputValue(inputs: JsonObject, nodeId: string): JsonValue | undefined {
  return Object.hasOwn(inputs, nodeId) ? inputs[nodeId] : undefined;
}

/** Returns the text of an input: a string as it is, any other value as JSON. */
export function inputText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns the inputs of a run that begins with a Message: the keys of its data objects by node id, its text for every
 * other `input` node, else the default of the node.
 */
export function inputsOf(message: Message, definition: WorkflowDefinition): JsonObject {
  const named = message.parts.flatMap(({ data }) => (isJsonObject(data) ? Object.entries(data) : []));
  const text = messageText(message);
  const inputs = definition.nodes.filter((node) => node.type === 'input');
  const unnamed = inputs.flatMap(({ id, config }): [string, JsonValue][] => {
    const value = text ?? config['default'];
    return value === undefined ? [] : [[id, value]];
  });
  return Object.fromEntries([...unnamed, ...named]);
}

/** Returns the texts of a Message, joined by newlines; `undefined` if it has none. */
export function messageText({ parts }: Message): string | undefined {
  const texts = parts.flatMap(({ text }) => (text === undefined ? [] : [text]));
  return texts.length === 0 ? undefined : texts.join('\n');
}

/** Number of inputs of a run; a workflow has at most as many nodes. */
const MOST_INPUTS = 1_000;

/**
 * Rejects a Message whose inputs together are too large: its text becomes the input of every `input` node, and each key
 * of its data an input.
 * @throws ContentTooLarge
 */
export function refuseLargeInputs({ parts }: Message, { nodes }: WorkflowDefinition, limit: number): void {
  const named = parts.reduce((sum, { data }) => sum + (isJsonObject(data) ? Object.keys(data).length : 0), 0);
  if (named > MOST_INPUTS) throw new ContentTooLarge(`a run has at most ${MOST_INPUTS} inputs; these are ${named}`);
  const characters = parts.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
  if (characters * nodes.length <= limit) return;
  const inputs = nodes.filter(({ type }) => type === 'input').length;
  if (characters * inputs > limit)
    throw ContentTooLarge.beyondLimit(
      `the text of the message as the input of ${inputs} nodes`,
      limit,
      'ARTIFACT_LIMIT',
    );
}

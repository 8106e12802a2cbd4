import type { ConfigSchema } from '#libs/executor';
import type { JsonObject } from '#libs/protocol';

/** The text of the Message to a node. */
export const PROMPT: JsonObject = {
  type: 'string',
  description: 'What is said to the node; absent: what the nodes before it answered. May have {{references}}.',
};

/** What goes with the text of the Message to a node. */
export const DATA: JsonObject = {
  description:
    'JSON that is said beside the text. Texts in it may have {{references}}, and ${expressions} in language 2.',
};

/** The JSON Schema of a config. @param required what a node does not do without */
export function configSchema(properties: Record<string, JsonObject>, required: string[] = []): ConfigSchema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

import type { ConfigSchema } from '#libs/executor';
import type { JsonObject } from '#libs/protocol';

/** Text of the Message to a node. */
export const PROMPT: JsonObject = {
  type: 'string',
  description: 'What is said to the node; absent: what the nodes before it answered. May have {{references}}.',
};

/** Data beside the text of the Message to a node. */
export const DATA: JsonObject = {
  description:
    'JSON that is said beside the text. Texts in it may have {{references}}, and ${expressions} in language 2.',
};

/** Returns the JSON Schema of a config. @param required names of mandatory members */
export function configSchema(properties: Record<string, JsonObject>, required: string[] = []): ConfigSchema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

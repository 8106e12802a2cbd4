import type { ConfigSchema, NodeProblem, NodeSpec } from '#libs/agents';
import type { JsonObject, JsonValue } from '#libs/protocol';

/** Collects the problems in the config of a node. Each problem has a sentence, and the path of the member at fault. */
export class ConfigProblems {
  readonly found: NodeProblem[] = [];

  constructor(private readonly node: NodeSpec) {}

  /** Adds a problem for each of these members that is present and not a string. */
  checkStrings(...keys: string[]): this {
    for (const key of keys) this.checkMember(key, 'must be a string', (value) => typeof value === 'string');
    return this;
  }

  /** Adds a problem if the member is present and does not satisfy `holds`. */
  checkMember(key: string, rule: string, holds: (value: JsonValue) => boolean): this {
    const value = this.node.config[key];
    return this.addUnless(value === undefined || holds(value), `${key} ${rule}`, key);
  }

  /** Adds a problem if the condition is false. @param key member at fault; absent for the whole config */
  addUnless(condition: boolean, sentence: string, key?: string): this {
    const path = key === undefined ? 'config' : `config.${key}`;
    if (!condition) this.found.push({ path, detail: `${this.node.type} node "${this.node.id}": ${sentence}` });
    return this;
  }
}

/** JSON Schema of `prompt`, the text of the Message to a node. */
export const PROMPT: JsonObject = {
  type: 'string',
  description: 'Message to the node; default: the answers of the nodes before it. May contain {{references}}.',
};

/** JSON Schema of `data`, the data beside the text of the Message to a node. */
export const DATA: JsonObject = {
  description:
    'JSON that is sent beside the text. Its strings may contain {{references}}, and ${expressions} in language 2.',
};

/** Creates the JSON Schema of a config. @param required names of mandatory members */
export function configSchema(properties: Record<string, JsonObject>, required: string[] = []): ConfigSchema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

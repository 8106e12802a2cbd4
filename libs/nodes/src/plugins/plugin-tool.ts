import { Logger } from '@nestjs/common';
import { type DefinedTool, isFailure } from '#libs/authoring';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { NodeFailure } from '../node-failure.js';
import type { Tool, ToolContext } from '../tools/tool.js';

/** Tool defined by a plugin. Callers see the text of a Failure; any other error appears only in the log. */
export class PluginTool implements Tool {
  private static readonly logger = new Logger(PluginTool.name);
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly repeatable: boolean;

  constructor(private readonly defined: DefinedTool) {
    const { name, description, inputSchema, readOnly = false, idempotent = false } = defined;
    this.name = name;
    this.description = description;
    // Models require an object with properties.
    this.parameters = { properties: {}, ...(inputSchema as JsonObject), type: 'object' };
    this.repeatable = readOnly || idempotent;
  }

  async runTool(args: JsonObject, { signal }: ToolContext): Promise<JsonValue> {
    try {
      const result = (await this.defined.run(args, { signal })) as JsonValue | undefined;
      return JSON.parse(JSON.stringify(result ?? null)) as JsonValue;
    } catch (error) {
      signal.throwIfAborted();
      if (isFailure(error)) throw new NodeFailure(error.message, { cause: error });
      PluginTool.logger.error({ err: error, tool: this.name }, 'A tool of a plugin failed');
      throw new NodeFailure(`the tool "${this.name}" failed`, { cause: error });
    }
  }
}

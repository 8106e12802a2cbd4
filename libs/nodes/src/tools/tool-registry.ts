import { Ajv, type ValidateFunction } from 'ajv';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { NodeFailure } from '../node-failure.js';
import type { Tool, ToolContext } from './tool.js';

/** The tools that nodes may name. */
export class ToolRegistry {
  readonly #ajv = new Ajv({ allErrors: true, strict: false });
  readonly #tools = new Map<string, { tool: Tool; validate: ValidateFunction }>();

  constructor(tools: readonly Tool[]) {
    for (const tool of tools) this.register(tool);
  }

  /** Adds a tool; a tool of the same name is replaced. */
  register(tool: Tool): void {
    this.#tools.set(tool.name, { tool, validate: this.#ajv.compile(tool.parameters) });
  }

  get names(): string[] {
    return [...this.#tools.keys()];
  }

  find(name: string): Tool | undefined {
    return this.#tools.get(name)?.tool;
  }

  /** @throws NodeFailure for an unknown tool, and for arguments that are not what the tool takes */
  async run(name: string, args: JsonObject, context: ToolContext): Promise<JsonValue> {
    const entry = this.#tools.get(name);
    if (!entry) throw new NodeFailure(`unknown tool "${name}"`);
    if (!entry.validate(args)) {
      throw new NodeFailure(`tool "${name}": ${this.#ajv.errorsText(entry.validate.errors, { dataVar: 'args' })}`);
    }
    return entry.tool.run(args, context);
  }
}

import { Ajv, type ValidateFunction } from 'ajv';
import { withDecimalMultiples } from '#libs/expressions';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { NodeFailure } from '../node-failure.js';
import type { Tool, ToolContext } from './tool.js';

/** Tools that nodes may name. */
export class ToolRegistry {
  readonly #ajv = withDecimalMultiples(new Ajv({ allErrors: true, strict: false }));
  readonly #tools = new Map<string, Tool>();
  /** Validators, compiled on the first run of their tool to keep the start fast. */
  readonly #validators = new WeakMap<Tool, ValidateFunction>();

  constructor(tools: readonly Tool[]) {
    for (const tool of tools) this.registerTool(tool);
  }

  /** Adds a tool; a tool of the same name is replaced. */
  registerTool(tool: Tool): void {
    this.#tools.set(tool.name, tool);
  }

  get names(): string[] {
    return [...this.#tools.keys()];
  }

  findTool(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** Validates the arguments and runs a tool. @throws NodeFailure for an unknown tool or invalid arguments */
  async runToolByName(name: string, args: JsonObject, context: ToolContext): Promise<JsonValue> {
    const tool = this.#tools.get(name);
    if (!tool) throw new NodeFailure(`unknown tool "${name}"`);
    const validate = this.#validatorOf(tool);
    if (!validate(args)) {
      throw new NodeFailure(`tool "${name}": ${this.#ajv.errorsText(validate.errors, { dataVar: 'args' })}`);
    }
    return tool.runTool(args, context);
  }

  #validatorOf(tool: Tool): ValidateFunction {
    const known = this.#validators.get(tool);
    if (known) return known;
    const validate = this.#ajv.compile(tool.parameters);
    this.#validators.set(tool, validate);
    return validate;
  }
}

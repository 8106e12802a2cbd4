import { Ajv, type ValidateFunction } from 'ajv';
import { withDecimalMultiples } from '#libs/expressions';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { NodeFailure } from '../node-executor.js';

export interface ToolContext {
  /** Aborts when the call's Task is canceled or the process stops. */
  signal: AbortSignal;
}

/** Tool that nodes may run. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema (2020-12 vocabulary that ajv reads) of `args`, which are validated before `runTool`. */
  readonly parameters: JsonObject;
  /** True if a second run does no harm. A run interrupted by a crash is then repeated; otherwise it fails. */
  readonly repeatable: boolean;
  /** @throws NodeFailure if the caller may know the reason */
  runTool(args: JsonObject, context: ToolContext): JsonValue | Promise<JsonValue>;
}

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

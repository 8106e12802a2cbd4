import { Ajv, type ValidateFunction } from 'ajv';
import { withDecimalMultiples } from '#libs/expressions';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { NodeFailure } from '../node-executor.js';

/** Context of one call of a tool. */
export interface ToolContext {
  /** Signal that aborts when the Task of the call is canceled, or the process stops. */
  signal: AbortSignal;
}

/** Built-in or plugin tool that nodes may run. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema (draft 7) of `args`, which are validated before `runTool`. */
  readonly parameters: JsonObject;
  /** True if a second run does no harm. Only then is a run that a crash interrupted repeated. */
  readonly repeatable: boolean;
  /** Runs the tool. @throws NodeFailure for a failure whose reason the caller may see */
  runTool(args: JsonObject, context: ToolContext): JsonValue | Promise<JsonValue>;
}

/** Registry of the tools that nodes may name. It validates arguments and runs the tools. */
export class ToolRegistry {
  readonly #ajv = withDecimalMultiples(new Ajv({ allErrors: true, strict: false }));
  readonly #tools = new Map<string, Tool>();
  /** Validators of arguments. Each is compiled on the first run of its tool, to keep the start of the process fast. */
  readonly #validators = new WeakMap<Tool, ValidateFunction>();

  constructor(tools: readonly Tool[]) {
    for (const tool of tools) this.registerTool(tool);
  }

  /** Adds a tool. A tool of the same name is replaced. */
  registerTool(tool: Tool): void {
    this.#tools.set(tool.name, tool);
  }

  get names(): string[] {
    return [...this.#tools.keys()];
  }

  findTool(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /**
   * Validates the arguments and runs a tool.
   * @throws NodeFailure if there is no such tool or the arguments are invalid
   * @throws the errors of the tool
   */
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

import { type DefinedHandler, type FactName, PLUGIN } from './facts.js';
import type { Json, JsonMembers, Work, WorkContext } from './work-context.js';

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** JSON Schema of an object. */
export interface ObjectSchema {
  type?: 'object';
  properties?: { [member: string]: JsonMembers };
  required?: string[];
  [keyword: string]: Json | undefined;
}

/** Context that `run` of a node type receives for one node. */
export interface NodeContext<Config extends JsonMembers = JsonMembers> extends WorkContext {
  /** Config of the node in its workflow; it conforms to `configSchema`. */
  readonly config: Config;
  /** Id of the node in its workflow. */
  readonly node: string;
}

/** Definition of a node type for workflows. */
export interface NodeDefinition<Config extends JsonMembers = JsonMembers> {
  /** Name of the type: 1 to 64 letters, digits, underscores or hyphens. It must differ from every existing type. */
  type: string;
  /** Sentence about the type, for the cards of its nodes and for the console. */
  description?: string;
  /**
   * JSON Schema (draft 7) of the config. Configs are checked when a workflow is saved. The console shows the
   * descriptions of the members.
   */
  configSchema: ObjectSchema;
  /**
   * Recovery after a crash.
   * - `restart`: `run` runs again from its beginning; recorded steps return their results.
   * - `fail`: the Task ends FAILED.
   */
  recovery: 'restart' | 'fail';
  /** Works on one Message to a node of this type. */
  run(ctx: NodeContext<Config>): Work;
}

/** Context of one call of a tool, beside the arguments. */
export interface ToolCall {
  /** Signal that aborts when the call's Task is canceled or the process stops. */
  readonly signal: AbortSignal;
}

/** Definition of a tool that `tool` nodes and `agent` nodes may name. */
export interface ToolDefinition<Args extends JsonMembers = JsonMembers> {
  /** Name of the tool: 1 to 64 letters, digits, underscores or hyphens. It must differ from every existing tool. */
  name: string;
  /** Description for the model, which decides by it whether to call the tool. */
  description: string;
  /** JSON Schema (draft 7) of the arguments. Arguments are validated before `run`. */
  inputSchema: ObjectSchema;
  /** True if the tool changes nothing, so that a call that a crash interrupted is repeated. */
  readOnly?: boolean;
  /** True if a repeated call has no further effect, so that a call that a crash interrupted is repeated. */
  idempotent?: boolean;
  /** Runs the tool. @throws Failure with a message that callers and models see */
  run(args: Args, call: ToolCall): Json | Promise<Json>;
}

/** Node type, tool or fact handler that a plugin module exports as its default, alone or in a list. */
export type Plugin = DefinedNode | DefinedTool | { [Name in FactName]: DefinedHandler<Name> }[FactName];

/** Node type that `defineNode` has checked. */
export interface DefinedNode extends NodeDefinition {
  readonly [PLUGIN]: 'node';
}

/** Tool that `defineTool` has checked. */
export interface DefinedTool extends ToolDefinition {
  readonly [PLUGIN]: 'tool';
}

/** Checks the definition of a node type, and marks it as a plugin. @throws TypeError naming the invalid member */
export function defineNode<Config extends JsonMembers = JsonMembers>(definition: NodeDefinition<Config>): DefinedNode {
  const { type, configSchema, recovery } = definition;
  refuseUnless(isName(type), 'defineNode: type must be 1 to 64 letters, digits, underscores or hyphens');
  refuseUnless(isObjectSchema(configSchema), `defineNode ${type}: configSchema must be ${OBJECT_SCHEMA}`);
  refuseUnless(recovery === 'restart' || recovery === 'fail', `defineNode ${type}: recovery must be restart or fail`);
  refuseUnless(typeof definition.run === 'function', `defineNode ${type}: run must be a function`);
  const whole = definition as unknown as NodeDefinition;
  return { ...whole, run: (ctx) => whole.run(ctx), [PLUGIN]: 'node' };
}

/** Checks the definition of a tool, and marks it as a plugin. @throws TypeError naming the invalid member */
export function defineTool<Args extends JsonMembers = JsonMembers>(definition: ToolDefinition<Args>): DefinedTool {
  const { name, description, inputSchema } = definition;
  refuseUnless(isName(name), 'defineTool: name must be 1 to 64 letters, digits, underscores or hyphens');
  refuseUnless(typeof description === 'string' && description !== '', `defineTool ${name}: description must be a text`);
  refuseUnless(isObjectSchema(inputSchema), `defineTool ${name}: inputSchema must be ${OBJECT_SCHEMA}`);
  refuseUnless(typeof definition.run === 'function', `defineTool ${name}: run must be a function`);
  const whole = definition as unknown as ToolDefinition;
  return { ...whole, run: (args, call) => whole.run(args, call), [PLUGIN]: 'tool' };
}

/** Returns the kind of a plugin (`node`, `tool` or `fact`), or `undefined` if the value is not a plugin. */
export function pluginKind(value: unknown): PluginKind | undefined {
  if (typeof value !== 'object' || value === null || !(PLUGIN in value)) return undefined;
  return PLUGIN_KINDS.find((kind) => kind === value[PLUGIN]);
}

const PLUGIN_KINDS = ['node', 'tool', 'fact'] as const;
type PluginKind = (typeof PLUGIN_KINDS)[number];

const OBJECT_SCHEMA = 'the JSON Schema of an object';

function isName(value: unknown): boolean {
  return typeof value === 'string' && NAME.test(value);
}

function isObjectSchema(value: unknown): boolean {
  if (!isObjectValue(value)) return false;
  const { type = 'object', properties = {} } = value as { type?: unknown; properties?: unknown };
  return type === 'object' && isObjectValue(properties);
}

function isObjectValue(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuseUnless(holds: boolean, sentence: string): void {
  if (!holds) throw new TypeError(sentence);
}

import type { Json, JsonMembers } from './content.js';
import type { DefinedHandler, FactName } from './facts.js';
import { PLUGIN } from './plugin-mark.js';
import type { Work, WorkContext } from './work-context.js';

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** The JSON Schema of an object. */
export interface ObjectSchema {
  type?: 'object';
  properties?: { [member: string]: JsonMembers };
  required?: string[];
  [keyword: string]: Json | undefined;
}

/** What the function of a node works with. */
export interface NodeContext<Config extends JsonMembers = JsonMembers> extends WorkContext {
  /** The node's config as its workflow says it, which fits `configSchema`. */
  readonly config: Config;
  /** The node's id. */
  readonly node: string;
}

/** A type of node that workflows may have. */
export interface NodeDefinition<Config extends JsonMembers = JsonMembers> {
  /** 1 to 64 letters, digits, underscores or hyphens; none that there is already. */
  type: string;
  /** One sentence for the cards of such nodes, and for the console. */
  description?: string;
  /** The JSON Schema (2020-12) of a node's config; it is checked when a workflow is saved, and described in the console. */
  configSchema: ObjectSchema;
  /** After a crash: `restart` executes `run` again, without the steps that were recorded; `fail` ends the Task FAILED. */
  recovery: 'restart' | 'fail';
  /** Works on one Message to such a node. */
  run(ctx: NodeContext<Config>): Work;
}

/** What the function of a tool is given beside its arguments. */
export interface ToolCall {
  /** Aborts when the call's Task is canceled or the process stops. */
  readonly signal: AbortSignal;
}

/** A tool that `tool` nodes and agents may name. */
export interface ToolDefinition<Args extends JsonMembers = JsonMembers> {
  /** 1 to 64 letters, digits, underscores or hyphens; none that there is already. */
  name: string;
  /** What it does: a model decides by it. */
  description: string;
  /** The JSON Schema (2020-12) of its arguments, which are held to it before `run`. */
  inputSchema: ObjectSchema;
  /** Whether it changes nothing: then a call that a crash cut is made again. */
  readOnly?: boolean;
  /** Whether calling it twice does what calling it once does: then a call that a crash cut is made again. */
  idempotent?: boolean;
  /** @throws Failure with a sentence that callers and models may read */
  run(args: Args, call: ToolCall): Json | Promise<Json>;
}

/** A node type, a tool or a handler of facts that a plugin module exports, alone or in a list, as its default. */
export type Plugin = DefinedNode | DefinedTool | { [Name in FactName]: DefinedHandler<Name> }[FactName];

export interface DefinedNode extends NodeDefinition {
  readonly [PLUGIN]: 'node';
}

export interface DefinedTool extends ToolDefinition {
  readonly [PLUGIN]: 'tool';
}

/** @throws TypeError naming the member that is wrong */
export function defineNode<Config extends JsonMembers = JsonMembers>(definition: NodeDefinition<Config>): DefinedNode {
  const { type, configSchema, recovery } = definition;
  refuseUnless(isName(type), 'defineNode: type must be 1 to 64 letters, digits, underscores or hyphens');
  refuseUnless(isObjectSchema(configSchema), `defineNode ${type}: configSchema must be ${OBJECT_SCHEMA}`);
  refuseUnless(recovery === 'restart' || recovery === 'fail', `defineNode ${type}: recovery must be restart or fail`);
  refuseUnless(typeof definition.run === 'function', `defineNode ${type}: run must be a function`);
  const whole = definition as unknown as NodeDefinition;
  return { ...whole, run: (ctx) => whole.run(ctx), [PLUGIN]: 'node' };
}

/** @throws TypeError naming the member that is wrong */
export function defineTool<Args extends JsonMembers = JsonMembers>(definition: ToolDefinition<Args>): DefinedTool {
  const { name, description, inputSchema } = definition;
  refuseUnless(isName(name), 'defineTool: name must be 1 to 64 letters, digits, underscores or hyphens');
  refuseUnless(typeof description === 'string' && description !== '', `defineTool ${name}: description must be a text`);
  refuseUnless(isObjectSchema(inputSchema), `defineTool ${name}: inputSchema must be ${OBJECT_SCHEMA}`);
  refuseUnless(typeof definition.run === 'function', `defineTool ${name}: run must be a function`);
  const whole = definition as unknown as ToolDefinition;
  return { ...whole, run: (args, call) => whole.run(args, call), [PLUGIN]: 'tool' };
}

/** What a value was defined as; `undefined` where it is no plugin. */
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
  if (!isObject(value)) return false;
  const { type = 'object', properties = {} } = value as { type?: unknown; properties?: unknown };
  return type === 'object' && isObject(properties);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuseUnless(holds: boolean, sentence: string): void {
  if (!holds) throw new TypeError(sentence);
}

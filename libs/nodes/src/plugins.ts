import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Ajv, type ValidateFunction } from 'ajv';
import { statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import {
  type DefinedHandler,
  type DefinedNode,
  type DefinedTool,
  defineNode,
  defineTool,
  type FactName,
  Failure,
  isFailure,
  onFact,
  pluginKind,
  StepError,
} from '#libs/agent-sdk';
import type { AgentExecutor, ConfigSchema, NodeProblem, NodeSpec, NodeType } from '#libs/agents';
import { withDecimalMultiples } from '#libs/expressions';
import { briefText, type JsonObject, type JsonValue } from '#libs/protocol';
import { ConfigError, Facts } from '#libs/service';
import { DefinedExecutor } from './defined/defined-executor.js';
import type { DefinedWork } from './defined/work-execution.js';
import type { Sealer } from './defined/work-log.js';
import { DATA, PROMPT } from './node-config.js';
import { NodeFailure } from './node-executor.js';
import type { Tool, ToolContext } from './tools/tool-registry.js';

/** Key on `globalThis` of the modules that this program offers to plugins. */
const OFFERED = Symbol.for('parley-a2a/modules');
const SCHEME = 'parley-offered:';

/**
 * Modules of this program, by the name in a plugin's import. They are used whatever packages are installed beside the
 * plugin.
 */
const offered = new Map<string, object>([
  ['parley-a2a/plugin', { defineNode, defineTool, Failure, onFact, StepError }],
]);
let isHooked = false;

/**
 * Imports a plugin module, and returns its default export. The module may import `parley-a2a/plugin` and the modules in
 * `more`, by their names.
 * @throws the error of the module, or an error with the reason why it cannot be imported
 */
export async function importDefault(path: string, more: Record<string, object> = {}): Promise<unknown> {
  for (const [name, exports] of Object.entries(more)) offered.set(name, exports);
  installHooks();
  const { default: found } = (await import(pathToFileURL(path).href)) as { default?: unknown };
  return found;
}

function installHooks(): void {
  if (isHooked) return;
  isHooked = true;
  Object.assign(globalThis, { [OFFERED]: offered });
  registerHooks({
    resolve: (specifier, context, next) => {
      if (offered.has(specifier)) return { url: SCHEME + specifier, shortCircuit: true };
      const found = next(specifier, context);
      return isOwnTypeScript(found.url) ? { ...found, format: 'module-typescript' } : found;
    },
    load: (url, context, next) => {
      if (!url.startsWith(SCHEME)) return next(url, context);
      return { format: 'module', source: sourceOf(url.slice(SCHEME.length)), shortCircuit: true };
    },
  });
}

/** True for a TypeScript file outside of `node_modules`. Such files are ES modules, whatever package.json says. */
function isOwnTypeScript(url: string): boolean {
  return /^file:.*\.ts$/.test(url) && !url.includes('/node_modules/');
}

function sourceOf(name: string): string {
  const names = Object.keys(offered.get(name) ?? {});
  const from = `globalThis[Symbol.for('parley-a2a/modules')].get(${JSON.stringify(name)})`;
  return `export const { ${names.join(', ')} } = ${from};`;
}

/** Definition from a plugin module, with the path of the module. */
export interface Plugged<T> {
  module: string;
  defined: T;
}

/**
 * Node types, tools and handlers of facts (such as the end of a Task, see docs/PLUGINS.md) that the operator's plugin
 * modules define.
 */
export class Plugins {
  readonly nodes: Plugged<DefinedNode>[] = [];
  readonly tools: Plugged<DefinedTool>[] = [];
  readonly handlers: Plugged<DefinedHandler>[] = [];

  /**
   * Loads plugin modules.
   * @param paths paths of modules whose default export is a plugin or a list of plugins
   * @throws ConfigError with one sentence that names the module
   */
  static async loadModules(paths: readonly string[]): Promise<Plugins> {
    const plugins = new Plugins();
    for (const path of paths) plugins.addDefinitions(path, await importDefinitions(path));
    return plugins;
  }

  /** Descriptions of the loaded definitions, each a text with its kind and name. */
  get loaded(): string[] {
    return [
      ...this.nodes.map(({ defined }) => `node ${defined.type}`),
      ...this.tools.map(({ defined }) => `tool ${defined.name}`),
      ...this.handlers.map(({ defined }) => `onFact ${defined.fact}`),
    ];
  }

  /** Throws if a plugin defines a node type with one of these names. @throws ConfigError */
  refuseTypes(names: readonly string[]): void {
    const taken = this.nodes.find(({ defined }) => names.includes(defined.type));
    if (taken) throw pluginError(taken.module, `there is a node type "${taken.defined.type}" already`);
  }

  /** Throws if a plugin defines a tool with one of these names. @throws ConfigError */
  refuseTools(names: readonly string[]): void {
    const taken = this.tools.find(({ defined }) => names.includes(defined.name));
    if (taken) throw pluginError(taken.module, `there is a tool "${taken.defined.name}" already`);
  }

  private addDefinitions(module: string, found: readonly unknown[]): void {
    for (const plugin of found) {
      const kind = pluginKind(plugin);
      if (kind === 'node') this.takeNode({ module, defined: plugin as DefinedNode });
      else if (kind === 'tool') this.takeTool({ module, defined: plugin as DefinedTool });
      else if (kind === 'fact') this.handlers.push({ module, defined: plugin as DefinedHandler });
      else throw pluginError(module, `its default export must be a result of ${DEFINED_BY}, or a list of such results`);
    }
  }

  private takeNode(node: Plugged<DefinedNode>): void {
    const { type, configSchema } = node.defined;
    this.refuseTypes([type]);
    refuseWrong(node.module, `configSchema of the node type "${type}"`, configSchema);
    this.nodes.push(node);
  }

  private takeTool(tool: Plugged<DefinedTool>): void {
    const { name, inputSchema } = tool.defined;
    this.refuseTools([name]);
    refuseWrong(tool.module, `inputSchema of the tool "${name}"`, inputSchema);
    this.tools.push(tool);
  }
}

const DEFINED_BY = 'defineNode, defineTool or onFact';

async function importDefinitions(path: string): Promise<readonly unknown[]> {
  // The error of Node.js would name a file of this program.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) throw pluginError(path, 'there is no such file');
  try {
    const found = await importDefault(path);
    return Array.isArray(found) ? (found as unknown[]) : [found];
  } catch (error) {
    throw pluginError(path, error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it cannot be loaded');
  }
}

function refuseWrong(module: string, what: string, schema: object): void {
  try {
    new Ajv({ strict: false }).compile(schema);
  } catch (error) {
    throw pluginError(module, `the ${what} is not a valid JSON Schema: ${(error as Error).message}`);
  }
}

function pluginError(module: string, sentence: string): ConfigError {
  return new ConfigError([`PARLEY_PLUGINS: ${module}: ${sentence}`]);
}

/** Subscribes the handlers of plugin modules to the facts that this replica commits, such as the end of a Task. */
@Injectable()
export class PluginHandlers implements OnApplicationBootstrap {
  constructor(
    private readonly facts: Facts,
    private readonly plugins: Plugins,
  ) {}

  onApplicationBootstrap(): void {
    for (const { module, defined } of this.plugins.handlers) this.subscribeHandler(defined, module);
  }

  private subscribeHandler<Name extends FactName>({ fact, handle }: DefinedHandler<Name>, module: string): void {
    this.facts.on(fact, handle, module);
  }
}

/** Maximum number of characters of a member's name in a problem. */
const LONGEST_NAME = 200;

/** JSON Schemas of the members that every config may have. */
const GENERAL: Record<string, JsonObject> = { description: { type: 'string' } };

/**
 * Node type that a plugin defines. Its nodes are as durable as built-in nodes: like agents of the SDK, they record
 * steps, report progress and ask questions.
 */
export class PluginNode implements NodeType {
  readonly name: string;
  readonly configSchema: ConfigSchema;
  private readonly validate: ValidateFunction;

  constructor(
    private readonly defined: DefinedNode,
    private readonly sealer: Sealer,
  ) {
    this.name = defined.type;
    const { configSchema, description } = defined;
    const own = configSchema as JsonObject;
    const properties = { prompt: PROMPT, data: DATA, ...configSchema.properties };
    this.configSchema = { ...(description !== undefined && { description }), ...own, type: 'object', properties };
    const schema = { ...own, type: 'object', properties: { ...GENERAL, ...properties } };
    this.validate = withDecimalMultiples(new Ajv({ allErrors: true, strict: false })).compile(schema);
  }

  findProblems({ config }: NodeSpec): NodeProblem[] {
    if (this.validate(config)) return [];
    return (this.validate.errors ?? []).map(({ instancePath, message = 'is wrong', params }) => {
      const { additionalProperty: member } = params as { additionalProperty?: string };
      const named = member === undefined ? message : `${message}: ${JSON.stringify(briefText(member, LONGEST_NAME))}`;
      return { path: `config${instancePath.replaceAll('/', '.')}`, detail: `${this.name}: ${named}` };
    });
  }

  createExecutor({ id, config }: NodeSpec): AgentExecutor {
    const { description, recovery } = this.defined;
    const work: DefinedWork = {
      name: id,
      run: (context) => this.defined.run({ ...context, node: id, config: structuredClone(config) }),
    };
    return new DefinedExecutor(work, this.sealer, recovery, description === undefined ? {} : { does: description });
  }
}

/**
 * Tool that a plugin defines. Callers see the message of an error of the class Failure; any other error is only logged.
 */
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

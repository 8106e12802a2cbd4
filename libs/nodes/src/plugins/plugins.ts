import { Ajv } from 'ajv';
import { type DefinedHandler, type DefinedNode, type DefinedTool, pluginKind } from '#libs/authoring';
import { ConfigError } from '#libs/service';
import { statSync } from 'node:fs';
import { importDefault } from './import-module.js';

/** Definition of a plugin, and its module. */
export interface Plugged<T> {
  module: string;
  defined: T;
}

/** Node types, tools and fact handlers defined by the operator's modules. */
export class Plugins {
  readonly nodes: Plugged<DefinedNode>[] = [];
  readonly tools: Plugged<DefinedTool>[] = [];
  readonly handlers: Plugged<DefinedHandler>[] = [];

  /**
   * Loads plugins.
   * @param paths paths of modules whose default export is a plugin or a list of plugins
   * @throws ConfigError with one sentence that names the module
   */
  static async loadModules(paths: readonly string[]): Promise<Plugins> {
    const plugins = new Plugins();
    for (const path of paths) plugins.addDefinitions(path, await importDefinitions(path));
    return plugins;
  }

  /** Rejects plugins that redefine a node type. @throws ConfigError */
  refuseTypes(names: readonly string[]): void {
    const taken = this.nodes.find(({ defined }) => names.includes(defined.type));
    if (taken) throw pluginError(taken.module, `there is a node type "${taken.defined.type}" already`);
  }

  /** Rejects plugins that redefine a tool. @throws ConfigError */
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
      else throw pluginError(module, `its default export must be what ${DEFINED_BY} gives, or a list of that`);
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
  // Node's own error would name a file of this program.
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
    throw pluginError(module, `the ${what} is no JSON Schema: ${(error as Error).message}`);
  }
}

function pluginError(module: string, sentence: string): ConfigError {
  return new ConfigError([`PARLEY_PLUGINS: ${module}: ${sentence}`]);
}

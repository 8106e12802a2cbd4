import type { SharedUse } from '#libs/expressions';
import type { JsonObject } from '#libs/protocol';
import type { AgentExecutor } from './agent-executor.js';

/** A node as the node types see it. */
export interface NodeSpec {
  id: string;
  type: string;
  config: JsonObject;
  /** How long a question of it may wait in a run. */
  onWait?: { deadline: string };
  /** The workflow that it is a node of, as it was saved. */
  of?: NodeHome;
}

/** Where a node belongs. */
export interface NodeHome {
  /** The workflow's name; of a workflow inside a node that of the one around it, a dot, and the node's id. */
  workflow: string;
  revision: string;
  /** What `${}` means in the node's texts: 2, an expression; else nothing. */
  language?: 1 | 2;
}

/** A JSON Schema of an object. */
export interface ConfigSchema extends JsonObject {
  type: 'object';
  properties: { [member: string]: JsonObject };
}

/** What is wrong with a node's config: a sentence, and its place from the node on (`config.tools[2]`) where that is known. */
export type NodeProblem = string | { path: string; detail: string };

/** One kind of node. */
export interface NodeType {
  readonly name: string;
  /**
   * The JSON Schema (2020-12) of a config: its properties are the members that mean something, each described, and
   * whatever it refuses `problems` refuses as well. Absent: nothing is known of the config, and nobody is told of others.
   */
  readonly configSchema?: ConfigSchema;
  /**
   * What is wrong with a node's config, one sentence each; empty where nothing is.
   * @param use what the workflow's nodes before it use of what they share
   */
  problems(node: NodeSpec, use?: SharedUse): NodeProblem[];
  /** Makes the node's executor; its config may have become invalid since it was saved. */
  executor(node: NodeSpec): AgentExecutor;
}

/** The kinds of node that a workflow may contain, each an AgentExecutor. */
export abstract class NodeTypes {
  abstract readonly names: readonly string[];

  /**
   * The executor of a node.
   * @throws UnknownAgent with reason `NO_EXECUTOR` and a text that names the type for one that nobody registered
   */
  abstract executor(node: NodeSpec): AgentExecutor;

  /** The JSON Schema of a type's config; `undefined` where there is none. */
  configSchema(_type: string): ConfigSchema | undefined {
    return undefined;
  }

  /** The members that a type's config may have; `undefined` where that is not known. */
  keys(type: string): readonly string[] | undefined {
    const schema = this.configSchema(type);
    return schema && Object.keys(schema.properties);
  }

  /** What is wrong with a node's type and config, one sentence each; empty where nothing is. */
  abstract problems(node: NodeSpec, use?: SharedUse): NodeProblem[];
}

import type { SharedUse } from '#libs/expressions';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { AgentExecutor } from './agent-executor.js';

/** Node of a workflow, as its node type sees it. */
export interface NodeSpec {
  id: string;
  type: string;
  config: JsonObject;
  /** Maximum time for an answer to a question of the node in a run, as a duration such as `48h`; absent: no limit. */
  onWait?: { deadline: string };
  /** Workflow that contains the node, in the revision in which it was saved; absent if the node belongs to none. */
  of?: NodeHome;
}

/** Workflow that contains a node, for nodes that need to know it. */
interface NodeHome {
  /** Name of the workflow. For a workflow inside a node: the name of the outer workflow, a dot, and the node's id. */
  workflow: string;
  revision: string;
  /** Language version of `${}` in the node's texts. 2: a CEL expression; 1 or absent: plain text. */
  language?: 1 | 2;
}

/** JSON Schema of an object. */
export interface ConfigSchema extends JsonObject {
  type: 'object';
  properties: { [member: string]: JsonObject };
}

/** Problem of a node's config: a sentence, with its path from the node (`config.tools[2]`) if known. */
export type NodeProblem = string | { path: string; detail: string };

/** Type of a node (`http`, `human`): validates the config of its nodes and creates their executors. */
export interface NodeType {
  readonly name: string;
  /**
   * JSON Schema (2020-12) of the config. Its properties are the known members, each with a description. `findProblems`
   * reports every config that the schema rejects. Absent if the members are unknown; then unknown members are not
   * reported.
   */
  readonly configSchema?: ConfigSchema;
  /**
   * Returns the problems of a node's config, one sentence each; empty if there are none.
   * @param use limits that all nodes of a workflow share, with the amounts that its earlier nodes have used
   */
  findProblems(node: NodeSpec, use?: SharedUse): NodeProblem[];
  /** Creates the node's executor. The config may have become invalid since it was saved. */
  createExecutor(node: NodeSpec): AgentExecutor;
}

/** Registry of the node types that a workflow may contain, each with an AgentExecutor. */
export abstract class NodeTypes {
  abstract readonly names: readonly string[];

  /**
   * Creates the executor of a node.
   * @throws UnknownAgent with reason `NO_EXECUTOR` and a text that names the type, if the type is not registered
   */
  abstract createExecutor(node: NodeSpec): AgentExecutor;

  /** Returns the JSON Schema of the config of a node type; `undefined` if there is none. */
  configSchema(_type: string): ConfigSchema | undefined {
    return undefined;
  }

  /** Returns the names of the members that the config of a node type may have; `undefined` if they are unknown. */
  configKeys(type: string): readonly string[] | undefined {
    const schema = this.configSchema(type);
    return schema && Object.keys(schema.properties);
  }

  /** Returns the problems of a node's type and config, one sentence each; empty if there are none. */
  abstract findProblems(node: NodeSpec, use?: SharedUse): NodeProblem[];
}

/** JSON Schema keywords that do not constrain a value. */
const ANNOTATIONS = new Set(['title', 'description', 'examples']);

/** JSON Schema of a tool's arguments. */
export type ArgumentSchema = { type: 'object' } & JsonObject;

/**
 * Returns the JSON Schema of the arguments through which a tool takes a workflow's inputs; `undefined` for a workflow
 * without inputs.
 * @param input schema of the workflow's input data (`SkillSchema.input`)
 */
export function argumentSchema(input: JsonObject): ArgumentSchema | undefined {
  const { properties } = input;
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) return undefined;
  const typed = Object.entries(properties).map(([name, it]) => [
    name,
    isUnconstrained(it) ? { type: 'string', ...it } : it,
  ]);
  return { ...input, type: 'object', properties: Object.fromEntries(typed) as JsonObject };
}

/**
 * True if the schema of an input has no keyword that constrains the value. Models and clients expect a type, so such
 * an input is declared as text.
 */
function isUnconstrained(property: JsonValue): property is JsonObject {
  return isJsonObject(property) && Object.keys(property).every((name) => ANNOTATIONS.has(name));
}

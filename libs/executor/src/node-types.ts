import type { JsonObject } from '#libs/protocol';
import type { AgentExecutor } from './agent-executor.js';
import type { SharedUse } from './shared-use.js';

/** A node as the node types see it. */
export interface NodeSpec {
  id: string;
  type: string;
  config: JsonObject;
}

/** One kind of node. */
export interface NodeType {
  readonly name: string;
  /** The members of a config that mean something; absent: nobody is told of others. */
  readonly keys?: readonly string[];
  /**
   * What is wrong with a node's config, one sentence each; empty where nothing is.
   * @param use what the workflow's nodes before it use of what they share
   */
  problems(node: NodeSpec, use?: SharedUse): string[];
  /** Makes the node's executor; its config may have become invalid since it was saved. */
  executor(node: NodeSpec): AgentExecutor;
}

/** The kinds of node that a workflow may contain, each an AgentExecutor. */
export abstract class NodeTypes {
  abstract readonly names: readonly string[];

  /**
   * The executor of a node.
   * @throws UnknownAgent with reason `NO_EXECUTOR` and the text of row B15 for a type that nobody registered
   */
  abstract executor(node: NodeSpec): AgentExecutor;

  /** The members that a type's config may have; `undefined` where that is not known. */
  keys(_type: string): readonly string[] | undefined {
    return undefined;
  }

  /** What is wrong with a node's type and config, one sentence each; empty where nothing is. */
  abstract problems(node: NodeSpec, use?: SharedUse): string[];
}

import type { AgentExecutor, NodeSpec } from '#libs/executor';

/** One kind of node. */
export interface NodeType {
  readonly name: string;
  /** What is wrong with a node's config, one sentence each; empty where nothing is. */
  problems(node: NodeSpec): string[];
  /** Makes the node's executor; its config may have become invalid since it was saved. */
  executor(node: NodeSpec): AgentExecutor;
}

import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from '#libs/workflow-definition';

/** Returns a definition with additional members: for nodes by their id, for edges by `from>to`. */
export function extended(
  definition: WorkflowDefinition,
  nodes: Record<string, Partial<WorkflowNode>>,
  edges: Record<string, Partial<WorkflowEdge>> = {},
): WorkflowDefinition {
  return {
    ...definition,
    nodes: definition.nodes.map((node) => ({ ...node, ...nodes[node.id] })),
    edges: definition.edges.map((edge) => ({ ...edge, ...edges[`${edge.from}>${edge.to}`] })),
  };
}

import type { WorkflowNode } from './workflow.js';

/**
 * Where a node's agent is: an external node's own endpoint (rows E6, K14), for any other the node's path under a base
 * URL of this service. `undefined` for an external node without an endpoint.
 */
export function nodeUrl(workflow: string, node: WorkflowNode, baseUrl: string): string | undefined {
  if (node.type !== 'external') return `${baseUrl}/a2a/workflows/${workflow}/nodes/${node.id}`;
  const url = node.config['endpoint_url'];
  return typeof url === 'string' && url !== '' ? url : undefined;
}

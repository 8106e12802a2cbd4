import { AgentCallError } from '#libs/a2a-client';
import { hasUserinfo, NO_USERINFO, withoutUserinfo } from '#libs/protocol';
import type { WorkflowNode } from './workflow.js';

/**
 * Where a node's agent is: an external node's own endpoint, which a run calls directly, for any other the node's path
 * under a base URL of this service. `undefined` for an external node without an endpoint. It is shown: who calls is not
 * in it.
 */
export function nodeUrl(workflow: string, node: WorkflowNode, baseUrl: string): string | undefined {
  if (node.type !== 'external') return `${baseUrl}/a2a/workflows/${workflow}/nodes/${node.id}`;
  const url = node.config['endpoint_url'];
  return typeof url === 'string' && url !== '' ? withoutUserinfo(url) : undefined;
}

/**
 * Refuses an endpoint that a definition named before such ones were refused at save.
 * @throws AgentCallError
 */
export function refuseUserinfo({ config: { endpoint_url: url } }: WorkflowNode): void {
  if (typeof url === 'string' && hasUserinfo(url)) throw new AgentCallError('refused', `endpoint_url ${NO_USERINFO}`);
}

import { AgentCallError } from '#libs/a2a-client';
import { briefText, LONGEST_URL, urlProblem, withoutUserinfo } from '#libs/protocol';
import type { WorkflowNode } from './workflow.js';

/**
 * Returns the path of a workflow's agent; for an inline workflow (`outer.node`) the path of its node.
 * @param name of the workflow
 */
export function workflowPath(name: string): string {
  const [workflow = '', ...nodes] = name.split('.');
  return nodes.length === 0 ? `workflows/${workflow}` : `workflows/${workflow}/nodes/${nodes.join('.')}`;
}

/** Returns the path of a node's agent. The path of a node in an inline workflow contains the node around it. */
export function nodePath(workflow: string, id: string): string {
  return workflow.includes('.') || id.includes('.')
    ? workflowPath(`${workflow}.${id}`)
    : `workflows/${workflow}/nodes/${id}`;
}

/** Returns the path of the workflow or node that contains the node at a path; `undefined` if the path is no node. */
export function pathAround(path: string): string | undefined {
  const [, workflow, around] = /^(workflows\/[^/]+)\/nodes\/(?:([^/]+)\.)?[^/.]+$/.exec(path) ?? [];
  return around === undefined ? workflow : `${workflow}/nodes/${around}`;
}

/**
 * Returns the URL of a node's agent without userinfo, truncated to the longest URL that can be called.
 * - External node: its own endpoint, which the run calls directly; `undefined` if it has none.
 * - Any other node: its path under a base URL of this service.
 */
export function nodeUrl(workflow: string, node: WorkflowNode, baseUrl: string): string | undefined {
  if (node.type !== 'external') return `${baseUrl}/a2a/${nodePath(workflow, node.id)}`;
  const url = node.config['endpoint_url'];
  return typeof url === 'string' && url !== '' ? briefText(withoutUserinfo(url), LONGEST_URL) : undefined;
}

/**
 * Rejects an invalid endpoint. New definitions are checked at save; older ones may still contain such an endpoint.
 * @throws AgentCallError
 */
export function refuseEndpoint({ config: { endpoint_url: url } }: WorkflowNode): void {
  const problem = typeof url === 'string' ? urlProblem(url) : undefined;
  if (problem !== undefined) throw new AgentCallError('refused', `endpoint_url ${problem}`);
}

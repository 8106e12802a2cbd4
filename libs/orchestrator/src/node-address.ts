import { AgentCallError } from '#libs/a2a-client';
import { briefText, LONGEST_URL, urlProblem, withoutUserinfo } from '#libs/protocol';
import type { WorkflowNode } from './workflow.js';

/**
 * The path of a workflow's agent: of one that stands in a node (`outer.node`), that of the node.
 * @param name of the workflow
 */
export function workflowPath(name: string): string {
  const [workflow = '', ...nodes] = name.split('.');
  return nodes.length === 0 ? `workflows/${workflow}` : `workflows/${workflow}/nodes/${nodes.join('.')}`;
}

/** The path of a node's agent; those of a workflow that stands in a node have that one's before theirs. */
export function nodePath(workflow: string, id: string): string {
  return workflow.includes('.') || id.includes('.')
    ? workflowPath(`${workflow}.${id}`)
    : `workflows/${workflow}/nodes/${id}`;
}

/** The path of the agent whose node the agent at a path is; `undefined` where it is no node. */
export function pathAround(path: string): string | undefined {
  const [, workflow, around] = /^(workflows\/[^/]+)\/nodes\/(?:([^/]+)\.)?[^/.]+$/.exec(path) ?? [];
  return around === undefined ? workflow : `${workflow}/nodes/${around}`;
}

/**
 * Where a node's agent is: an external node's own endpoint, which a run calls directly, for any other the node's path
 * under a base URL of this service. `undefined` for an external node without an endpoint. It is shown: who calls is not
 * in it, and one that is too long to be called is cut.
 */
export function nodeUrl(workflow: string, node: WorkflowNode, baseUrl: string): string | undefined {
  if (node.type !== 'external') return `${baseUrl}/a2a/${nodePath(workflow, node.id)}`;
  const url = node.config['endpoint_url'];
  return typeof url === 'string' && url !== '' ? briefText(withoutUserinfo(url), LONGEST_URL) : undefined;
}

/**
 * Refuses an endpoint that a definition named before such ones were refused at save.
 * @throws AgentCallError
 */
export function refuseEndpoint({ config: { endpoint_url: url } }: WorkflowNode): void {
  const problem = typeof url === 'string' ? urlProblem(url) : undefined;
  if (problem !== undefined) throw new AgentCallError('refused', `endpoint_url ${problem}`);
}

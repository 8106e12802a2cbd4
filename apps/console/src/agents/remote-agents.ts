import type { Schemas } from '#libs/client';
import { getPages } from '../api/http.js';

export interface RemoteAgent {
  url: string;
  /** Names of the workflows that call the agent. */
  workflows: string[];
  /** True if the person added the agent in this browser. */
  added: boolean;
}

export interface WorkflowNodes extends Pick<Schemas['WorkflowView'], 'name'> {
  nodes: Pick<Schemas['WorkflowNodeBody'], 'type' | 'config'>[];
}

/** Returns the known remote agents: those added in this browser first, then those that workflows call. */
export function remoteAgents(added: readonly string[], workflows: readonly WorkflowNodes[]): RemoteAgent[] {
  const found = new Map(added.map((url): [string, RemoteAgent] => [url, { url, workflows: [], added: true }]));
  for (const { name, nodes } of workflows) {
    for (const url of nodes.flatMap(({ type, config }) => (type === 'external' ? urlIn(config) : []))) {
      const agent = found.get(url) ?? { url, workflows: [], added: false };
      if (!agent.workflows.includes(name)) agent.workflows.push(name);
      found.set(url, agent);
    }
  }
  return [...found.values()];
}

/**
 * Fetches the nodes of all saved workflows.
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
/** Key of the query of all workflows, as `workflowNodes` returns them. */
export const workflowNodesKey = () => ['workflows', 'nodes'] as const;

export function workflowNodes(signal: AbortSignal): Promise<WorkflowNodes[]> {
  return getPages('/api/workflows', signal);
}

function urlIn(config: Record<string, unknown> = {}): string[] {
  const url = config['endpoint_url'];
  return typeof url === 'string' && /^https?:\/\//i.test(url) ? [url] : [];
}

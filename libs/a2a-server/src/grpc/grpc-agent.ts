import { UnknownAgent } from '#libs/executor';
import { agentPath } from '../http/agent-base.js';

/**
 * The agent that a gRPC request addresses. One endpoint serves all agents: the card of each names its path as the
 * `tenant` of its gRPC interface, and clients send it with every request (section 8.3.2). A tenant that is no path is
 * the service's own affair: the name of a workflow, as in the other bindings.
 * @returns the agent's path; `''` is the service
 * @throws UnknownAgent
 */
export function grpcAgent(tenant: string): string {
  if (!tenant.includes('/')) return '';
  const [first, name, second, node, ...rest] = tenant.split('/');
  if (rest.length === 0) {
    if (first === 'workflows' && second === undefined) return agentPath('workflow', { workflow: name });
    if (first === 'workflows' && second === 'nodes') return agentPath('node', { workflow: name, node });
    if (first === 'nodes' && second === undefined) return agentPath('alias', { node: name });
  }
  throw new UnknownAgent(`no agent at "${tenant.slice(0, 64)}"`, 'AGENT_NOT_FOUND', { tenant: tenant.slice(0, 64) });
}

import { type AgentCatalog, type CallContext, type ServedAgent, UnknownAgent } from '#libs/executor';
import { isJsonObject, textStart } from '#libs/protocol';
import { agentPath } from './http/agent-base.js';

/**
 * Returns the `tenant` in a card beside the shared gRPC address, which clients send with every request (section 8.3.2):
 * the agent's path, with a trailing slash if it has no other.
 */
export function pathTenant(path: string): string {
  return path === '' || path.includes('/') ? path : `${path}/`;
}

/**
 * Returns the agent path that a `tenant` with a slash addresses. A tenant without a slash names a workflow of the
 * service.
 * @returns the agent's path; `''` is the service
 * @throws UnknownAgent
 */
export function tenantPath(tenant: string): string {
  if (!tenant.includes('/')) return '';
  const [first, name, second, node, ...rest] = tenant.split('/');
  if (rest.length === 0) {
    if (first === 'workflows' && second === undefined) return agentPath('workflow', { workflow: name });
    if (first === 'workflows' && second === 'nodes') return agentPath('node', { workflow: name, node });
    if (first === 'conversations' && name === '' && second === undefined) return agentPath('conversations', {});
    if (first === 'nodes' && second === undefined) return agentPath('alias', { node: name });
  }
  throw new UnknownAgent(`no agent at "${textStart(tenant, 64)}"`, 'AGENT_NOT_FOUND', {
    tenant: textStart(tenant, 64),
  });
}

/**
 * Redirects a call at the service's base whose `tenant` is the path of an agent to that agent; other calls stay
 * unchanged.
 * @throws UnknownAgent
 */
export function atTenant(call: CallContext, params: unknown): CallContext {
  if (call.agent !== '' || !isJsonObject(params)) return call;
  const { tenant } = params;
  if (typeof tenant !== 'string') return call;
  const path = tenantPath(tenant);
  return path === '' ? call : { ...call, agent: path };
}

/**
 * Returns the agent whose Tasks a request means: at the service's base the workflow that its `tenant` names; otherwise
 * the agent that was addressed.
 * @throws A2AError INVALID_PARAMS if `tenant` names no workflow
 */
export async function tenantAgent(
  catalog: AgentCatalog,
  agent: ServedAgent,
  { tenant }: { tenant?: string },
  { scope }: Pick<CallContext, 'scope'>,
): Promise<ServedAgent> {
  if (agent.path !== '' || !tenant) return agent;
  return catalog.inTenant(scope.tenant).routeMessage(agent, tenant, 'tenant');
}

import { UnknownAgent } from '#libs/agents';
import { textStart } from '#libs/protocol';
import { pathTenant, tenantPath } from '../http/call-context.js';

/**
 * Label of the service in the host names of agents over gRPC. A `*` in `GRPC_PUBLIC_URL` stands for the label of an
 * agent. So an agent can also be called by clients that send no `tenant`: clients of A2A 0.3, which has no tenant, and
 * clients that ignore the tenant of a card.
 *
 * - The label of an agent is its path with `--` instead of `/`: `agents--weather`, `workflows--trip--nodes--plan`. The
 *   label of the service is `service`.
 * - An agent whose path gives no label of at most 63 characters in lower case has no host of its own. Its card has the
 *   host of the service, and the `tenant` of the agent.
 */
const SERVICE = 'service';
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const WILDCARD = '*';

/** Returns the target of an agent for its card: the public target with the agent's label instead of the `*`. */
export function agentTarget(publicTarget: string, path: string): string {
  return publicTarget.replace(WILDCARD, () => labelOf(path) ?? SERVICE);
}

/**
 * Returns the path of the agent that the authority of a call (`host:port`) names.
 * @param publicTarget target of the gRPC binding as configured, with or without a `*`
 * @returns the path; `''`, the path of the service, if the target has no `*`, or the host does not match the target
 * @throws UnknownAgent if the part of the host in place of the `*` cannot be the label of an agent
 */
export function pathAtHost(publicTarget: string | undefined, authority: string): string {
  const suffix = publicTarget === undefined ? undefined : suffixOf(publicTarget);
  const host = authority.replace(/:\d+$/, '').toLowerCase();
  if (suffix === undefined || !host.endsWith(suffix) || host.length === suffix.length) return '';
  const label = host.slice(0, -suffix.length);
  if (label === SERVICE) return '';
  const path = pathOf(label);
  if (path !== undefined) return tenantPath(pathTenant(path));
  const shown = textStart(host, 64);
  throw new UnknownAgent(`no agent at the host "${shown}"`, 'AGENT_NOT_FOUND', { host: shown });
}

/** True if the host of a gRPC target names the agent whose path is `tenant`: it begins with the label of that agent. */
export function isHostOfAgent(target: string, tenant: string): boolean {
  const label = labelOf(tenant.replace(/\/$/, ''));
  return label !== undefined && target.replace(/^https?:\/\//i, '').startsWith(`${label}.`);
}

/** Returns the part of the public host after the `*`, in lower case; `undefined` if the target has no `*`. */
function suffixOf(publicTarget: string): string | undefined {
  const [, suffix] = /^(?:https?:\/\/)?\*(\.[^:/]+)/i.exec(publicTarget) ?? [];
  return suffix?.toLowerCase();
}

function labelOf(path: string): string | undefined {
  const label = path.replaceAll('/', '--');
  return LABEL.test(label) && pathOf(label) === path ? label : undefined;
}

function pathOf(label: string): string | undefined {
  if (label === 'conversations') return label;
  const [, workflow, node] = /^workflows--(.+?)--nodes--(.+)$/.exec(label) ?? [];
  if (workflow !== undefined) return `workflows/${workflow}/nodes/${node}`;
  const [, kind, name] = /^(agents|nodes|workflows)--(.+)$/.exec(label) ?? [];
  return kind === undefined ? undefined : `${kind}/${name}`;
}

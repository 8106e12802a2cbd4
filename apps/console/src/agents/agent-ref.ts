/** An agent as the console's addresses name it: a served agent by its path below `/a2a`, a remote agent by its URL. */
export type AgentRef = { kind: 'served'; path: string } | { kind: 'remote'; url: string };

/** Value of `?agent=` in an address for the service's root agent, whose path is empty. */
const SERVICE = '/';

export function parseAgentRef(text: string): AgentRef {
  if (/^https?:\/\//i.test(text)) return { kind: 'remote', url: text };
  return { kind: 'served', path: text === SERVICE ? '' : text };
}

/** Returns the address of an agent's page, within the agents view. */
export function agentHref(ref: AgentRef, tab?: string): string {
  const agent = ref.kind === 'remote' ? ref.url : ref.path || SERVICE;
  return `/one?${new URLSearchParams({ agent, ...(tab !== undefined && { tab }) })}`;
}

export function agentLabel(ref: AgentRef): string {
  return ref.kind === 'remote' ? ref.url : ref.path || 'Parley';
}

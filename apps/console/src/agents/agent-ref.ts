/** An agent as an address of the console names it: by its path below `/a2a`, or by its URL elsewhere. */
export type AgentRef = { kind: 'served'; path: string } | { kind: 'remote'; url: string };

/** The service itself: its path is empty, and an address must say something. */
const SERVICE = '/';

export function parseAgentRef(text: string): AgentRef {
  if (/^https?:\/\//i.test(text)) return { kind: 'remote', url: text };
  return { kind: 'served', path: text === SERVICE ? '' : text };
}

/** Where the console shows an agent, within its view of agents. */
export function agentHref(ref: AgentRef, tab?: string): string {
  const agent = ref.kind === 'remote' ? ref.url : ref.path || SERVICE;
  return `/one?${new URLSearchParams({ agent, ...(tab !== undefined && { tab }) })}`;
}

export function agentLabel(ref: AgentRef): string {
  return ref.kind === 'remote' ? ref.url : ref.path || 'Parley';
}

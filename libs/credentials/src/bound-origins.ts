import type { CredentialSettings } from './credential.js';

/**
 * Whether a credential may be sent to where a call goes. Without hosts of its own it goes to the origin that a workflow
 * names, and not to another one that the agent's card leads to.
 */
export function mayGoTo({ hosts }: CredentialSettings, endpoint: URL, agentUrl: string | undefined): boolean {
  if (hosts !== undefined) return hosts.includes(endpoint.origin);
  return agentUrl !== undefined && URL.canParse(agentUrl) && new URL(agentUrl).origin === endpoint.origin;
}

/** The origin that an entry of `hosts` names: `api.example.com` is `https://api.example.com`. `undefined` for anything else. */
export function originOf(entry: string): string | undefined {
  const text = /^https?:\/\//i.test(entry) ? entry : `https://${entry}`;
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname, search, hash, username, password } = new URL(text);
  const more = `${search}${hash}${username}${password}`;
  return pathname === '/' && more === '' && !/[\s@?#*]/.test(entry) ? origin : undefined;
}

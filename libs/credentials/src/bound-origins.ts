import type { CredentialSettings } from './credential.js';

/**
 * True if a credential may be sent to the endpoint of a call. Without hosts of its own it is bound to the origin of the
 * agent's URL in the workflow; the agent's card cannot lead it to another one.
 */
export function mayGoTo({ hosts }: CredentialSettings, endpoint: URL, agentUrl: string | undefined): boolean {
  if (hosts !== undefined) return hosts.includes(endpoint.origin);
  return agentUrl !== undefined && URL.canParse(agentUrl) && new URL(agentUrl).origin === endpoint.origin;
}

/**
 * Returns the origin of an entry of `hosts`: `api.example.com` is `https://api.example.com`. Returns `undefined` for
 * other text.
 */
export function originOf(entry: string): string | undefined {
  const text = /^https?:\/\//i.test(entry) ? entry : `https://${entry}`;
  if (!URL.canParse(text)) return undefined;
  const { origin, pathname, search, hash, username, password } = new URL(text);
  const more = `${search}${hash}${username}${password}`;
  return pathname === '/' && more === '' && !/[\s@?#*]/.test(entry) ? origin : undefined;
}

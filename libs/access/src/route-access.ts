import type { Permission } from './caller.js';

/** What a request needs: nothing, or one of some permissions. */
export type RouteAccess = 'public' | readonly Permission[];

const AGENTS: readonly Permission[] = ['agents'];
const WORKFLOWS: readonly Permission[] = ['workflows'];
const READERS: readonly Permission[] = ['agents', 'workflows'];
const ADMIN: readonly Permission[] = ['admin'];

const READING = new Set(['GET', 'HEAD']);
const PUBLIC = [
  // The console: what a browser loads before anyone can give it a key.
  /^\/(:page\(|assets\/\*$|favicon\.svg$|theme\.js$|$)/,
  /^\/health\//,
  /^\/metrics$/,
  /^\/docs(\/|-json$|-yaml$|$)/,
  // Who has a signed address needs no key: the handler checks the signature.
  /^\/files\/:id$/,
  // What definitions may be is no secret, and editors that look it up have no key.
  /^\/schemas\//,
  /\/\.well-known\//,
  /^\/a2a\/(conversations\/|(workflows\/:workflow\/)?(nodes\/:node\/)?)agent-card$/,
];

/** Routes that answer with a stream and with nothing else; A2A calls say in their bodies what they want. */
const STREAMS = /^\/api\/(events|agent-messages|(runs|conversations|brainstorms)\/:id\/events|workflows\/:name\/run)$/;

export function isStream(route: string | undefined): boolean {
  return route !== undefined && STREAMS.test(route);
}

/**
 * What a route needs. Whatever is not named here needs a caller that may call agents, so a new route is never open by
 * mistake.
 * @param route the pattern that the router matched; `undefined` where it matched none
 */
export function routeAccess(method: string, route: string | undefined): RouteAccess {
  // A browser asks for permission without credentials.
  if (method === 'OPTIONS') return 'public';
  if (route === undefined) return AGENTS;
  const reads = READING.has(method);
  if (reads && !route.startsWith('/api/') && PUBLIC.some((it) => it.test(route))) return 'public';
  if (/^\/api\/(keys|credentials|mcp-servers)(\/|$)/.test(route)) return ADMIN;
  // Whom this service calls, and by which card, is the operator's business; whoever draws workflows may look.
  if (/^\/api\/agent-cards?(\/|$)/.test(route)) return reads ? READERS : ADMIN;
  // Models are chosen by whoever draws workflows; where they are and who pays is the operator's business.
  if (/^\/api\/models(\/|$)/.test(route)) return reads ? READERS : ADMIN;
  if (route === '/api/workflows' || route === '/api/workflows/:name') return reads ? READERS : WORKFLOWS;
  if (route === '/api/apply' || route === '/api/generate') return WORKFLOWS;
  // Asked by whoever draws workflows, or may look at them; nothing is kept.
  if (/^\/api\/(workflows|expressions)\/check$/.test(route)) return READERS;
  if (route.startsWith('/api/workflows/:name/revisions')) return READERS;
  return AGENTS;
}

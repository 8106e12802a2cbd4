import type { Permission } from './caller.js';

/** Access to a route: public, or any one of the listed permissions. */
export type RouteAccess = 'public' | readonly Permission[];

const AGENTS: readonly Permission[] = ['agents'];
const WORKFLOWS: readonly Permission[] = ['workflows'];
const READERS: readonly Permission[] = ['agents', 'workflows'];
const ADMIN: readonly Permission[] = ['admin'];
const EVERYONE: readonly Permission[] = ['agents', 'workflows', 'prompts', 'admin'];
const PROMPT_READERS: readonly Permission[] = ['prompts', 'admin'];

const READING = new Set(['GET', 'HEAD']);
const PUBLIC = [
  // The console: a browser loads it before anyone can enter a key.
  /^\/(:page\(|assets\/\*$|favicon\.svg$|theme\.js$|$)/,
  /^\/health\//,
  /^\/metrics$/,
  // A person who signs in has no credentials yet.
  /^\/auth\/(options|sign-in|callback)$/,
  /^\/docs(\/|-json$|-yaml$|$)/,
  // Signed addresses need no key: the handler verifies the signature.
  /^\/files\/:id$/,
  // The schemas of definitions are no secret, and editors that load them have no key.
  /^\/schemas\//,
  /\/\.well-known\//,
  // Clients read the card of the MCP server before they have credentials for it.
  /^\/mcp\/server-card$/,
  /^\/a2a\/(conversations\/|agents\/:agent\/|(workflows\/:workflow\/)?(nodes\/:node\/)?)agent-card$/,
];

/**
 * Routes that respond with nothing but a stream. Routes of A2A are not among them: there the body of a call decides.
 */
const STREAMS = /^\/api\/(events|agent-messages|(runs|conversations|brainstorms)\/:id\/events|workflows\/:name\/run)$/;

/** True if a route responds with nothing but a stream. */
export function isStream(route: string | undefined): boolean {
  return route !== undefined && STREAMS.test(route);
}

/**
 * Returns the access that a route requires. Unlisted routes require the permission to call agents, so a new route is
 * never open by mistake.
 * @param route the pattern that the router matched; `undefined` without a match
 */
export function routeAccess(method: string, route: string | undefined): RouteAccess {
  // A browser sends preflight requests without credentials.
  if (method === 'OPTIONS') return 'public';
  if (route === undefined) return AGENTS;
  const reads = READING.has(method);
  if (reads && !route.startsWith('/api/') && PUBLIC.some((it) => it.test(route))) return 'public';
  // Agents elsewhere have no key: the handler verifies the token of the webhook.
  if (method === 'POST' && route === '/agent-notifications/:id') return 'public';
  // Senders of events have no key: the handler verifies the signature of the delivery.
  if (method === 'POST' && route === '/hooks/:id') return 'public';
  // Each caller may sign in, see its own name, and sign out.
  if (route === '/api/session') return EVERYONE;
  if (/^\/api\/(keys|credentials|mcp-servers|agents)(\/|$)/.test(route)) return ADMIN;
  // The operator decides which remote agents are called, and by which card; authors of workflows may read that.
  if (/^\/api\/agent-cards?(\/|$)/.test(route)) return reads ? READERS : ADMIN;
  // Authors of workflows choose models; the operator decides on addresses and cost.
  if (/^\/api\/models(\/|$)/.test(route)) return reads ? READERS : ADMIN;
  if (/^\/api\/limits(\/|$)/.test(route)) return reads ? READERS : ADMIN;
  // Prompts hold the authors' instructions and the results of tools, which a run's result may not show.
  if (route.startsWith('/api/tasks/:id/prompts')) return PROMPT_READERS;
  // Authors of workflows also decide when they run, and upon which events.
  if (/^\/api\/triggers(\/|$)/.test(route)) return reads ? READERS : WORKFLOWS;
  if (/^\/api\/schedules(\/|$)/.test(route)) return reads || route === '/api/schedules/times' ? READERS : WORKFLOWS;
  if (route === '/api/workflows' || route === '/api/workflows/:name') return reads ? READERS : WORKFLOWS;
  if (route === '/api/apply' || route === '/api/generate') return WORKFLOWS;
  // Authors and readers of workflows check expressions; nothing is stored.
  if (/^\/api\/(workflows|expressions)\/check$/.test(route)) return READERS;
  if (route.startsWith('/api/workflows/:name/revisions')) return reads ? READERS : WORKFLOWS;
  return AGENTS;
}

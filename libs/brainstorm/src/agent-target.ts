import { calledAgentOf } from '#libs/executor';
import type { AgentTarget } from './brainstorm-spec.js';

const NAME = '[A-Za-z0-9_][A-Za-z0-9_-]{0,63}';
const WORKFLOW = new RegExp(`^${NAME}$`);
const PATH = new RegExp(`^workflows/${NAME}(/nodes/(${NAME}\\.)*${NAME})?$`);

/**
 * Parses a reference to an agent: a URL, a path of this service's directory (`workflows/w`, `workflows/w/nodes/n`), or
 * the name of a workflow. Returns `undefined` for any other text; it does not check that the agent exists.
 */
export function agentTarget(reference: string): AgentTarget | undefined {
  if (/^https?:/i.test(reference)) return URL.canParse(reference) ? { url: reference } : undefined;
  if (PATH.test(reference)) return { path: reference };
  return WORKFLOW.test(reference) ? { path: `workflows/${reference}` } : undefined;
}

/** Returns the URL to call. @param baseUrl address of this service's local agents, without `/a2a` */
export function targetUrl(target: AgentTarget, baseUrl: string): string {
  return 'url' in target ? target.url : `${baseUrl}/a2a/${target.path}`;
}

/** Returns the default name of an agent: the last segment of its path, also of its card's path, or its host. */
export function defaultName(target: AgentTarget): string {
  if ('path' in target) return target.path.split('/').at(-1) ?? target.path;
  const { host, pathname } = new URL(calledAgentOf(target.url));
  const last = pathname
    .replace(/\/(a2a)?\/?$/, '')
    .split('/')
    .at(-1);
  return last === undefined || last === '' ? host : last;
}

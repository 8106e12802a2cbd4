import { calledAgentOf } from '#libs/executor';
import type { AgentTarget } from './brainstorm-spec.js';

const NAME = '[A-Za-z0-9_][A-Za-z0-9_-]{0,63}';
const WORKFLOW = new RegExp(`^${NAME}$`);
const PATH = new RegExp(`^workflows/${NAME}(/nodes/(${NAME}\\.)*${NAME})?$`);

/**
 * What a reference to an agent means: a URL, a path of this service's directory (`workflows/w`, `workflows/w/nodes/n`), or
 * the name of a workflow. `undefined` where it is none of them; whether there is such an agent is another question.
 */
export function agentTarget(reference: string): AgentTarget | undefined {
  if (/^https?:/i.test(reference)) return URL.canParse(reference) ? { url: reference } : undefined;
  if (PATH.test(reference)) return { path: reference };
  return WORKFLOW.test(reference) ? { path: `workflows/${reference}` } : undefined;
}

/** The URL to call. @param baseUrl where this service's own agents are, without `/a2a` */
export function targetUrl(target: AgentTarget, baseUrl: string): string {
  return 'url' in target ? target.url : `${baseUrl}/a2a/${target.path}`;
}

/** What an agent is called where nobody gave it a name: the end of its path, also where its card is named, or its host. */
export function nameOf(target: AgentTarget): string {
  if ('path' in target) return target.path.split('/').at(-1) ?? target.path;
  const { host, pathname } = new URL(calledAgentOf(target.url));
  const last = pathname
    .replace(/\/(a2a)?\/?$/, '')
    .split('/')
    .at(-1);
  return last === undefined || last === '' ? host : last;
}

import { UnknownAgent } from '#libs/executor';
import { textStart } from '#libs/protocol';

/** Kind of base URL under `/a2a` (contract: A2A). */
export type AgentBase = 'service' | 'conversations' | 'workflow' | 'node' | 'alias';

/** Route of each kind below `/a2a`, in the syntax of find-my-way. */
export const BASE_ROUTES: Readonly<Record<AgentBase, string>> = {
  service: '',
  conversations: '/conversations',
  workflow: '/workflows/:workflow',
  node: '/workflows/:workflow/nodes/:node',
  alias: '/nodes/:node',
};

export const AGENT_BASES = Object.keys(BASE_ROUTES) as AgentBase[];

/** Parameters that the router found in the path, decoded. */
export interface BaseParams {
  workflow?: string;
  node?: string;
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
/** Pattern of node names: a node of a nested workflow has the name of its outer node as a prefix. */
const NODE_NAME = /^(?:[A-Za-z0-9_][A-Za-z0-9_-]{0,63}\.){0,12}[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/**
 * Returns the agent path that a request addresses.
 * @throws UnknownAgent for an invalid segment, so that it cannot be mistaken for a deeper path
 */
export function agentPath(base: AgentBase, params: BaseParams): string {
  switch (base) {
    case 'service':
      return '';
    case 'conversations':
      return 'conversations';
    case 'workflow':
      return `workflows/${requireName(params.workflow, 'workflow')}`;
    case 'node':
      return `workflows/${requireName(params.workflow, 'workflow')}/nodes/${requireName(params.node, 'node', NODE_NAME)}`;
    case 'alias':
      return `nodes/${requireName(params.node, 'node')}`;
  }
}

/** Returns the URL of an agent, without a trailing slash. */
export function agentUrl(baseUrl: string, path: string): string {
  return path === '' ? `${baseUrl}/a2a` : `${baseUrl}/a2a/${path}`;
}

function requireName(segment: string | undefined, kind: 'workflow' | 'node', looks = NAME): string {
  if (segment !== undefined && looks.test(segment)) return segment;
  const shown = textStart(segment ?? '', 64);
  if (kind === 'node') throw new UnknownAgent(`node "${shown}" not registered`, 'NODE_NOT_FOUND', { node: shown });
  throw new UnknownAgent(`workflow "${shown}" not found`, 'AGENT_NOT_FOUND', { workflow: shown });
}

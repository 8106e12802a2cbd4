import type { Schemas } from '#libs/client';
import { getJson } from './http.js';

/** Remote agent that this service serves under a name. */
export type RegisteredAgentEntry = Schemas['RegisteredAgentView'];

/** Maximum number of registered agents on a page of the list. */
const PAGE = 100;

/**
 * Fetches all registered agents, sorted by name.
 * @throws ApiProblem 403 for a caller without the scope `admin`
 */
export async function listRegisteredAgents(signal: AbortSignal): Promise<RegisteredAgentEntry[]> {
  const found: RegisteredAgentEntry[] = [];
  for (let token = '', isLast = false; !isLast; isLast = token === '') {
    const query = `pageSize=${PAGE}${token === '' ? '' : `&pageToken=${encodeURIComponent(token)}`}`;
    const page = await getJson<Schemas['RegisteredAgentListView']>(`/api/agents?${query}`, signal);
    found.push(...page.agents);
    token = page.nextPageToken;
  }
  return found;
}

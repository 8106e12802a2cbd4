import { getJson } from './http.js';

/** The card of a remote agent, as pinned when the agent was first called. */
export interface PinnedAgent {
  url: string;
  name: string;
}

/**
 * Lists at most `most` remote agents that this service has called.
 * @throws ApiProblem
 */
export async function listPinnedCards(most: number, signal: AbortSignal): Promise<PinnedAgent[]> {
  return (await getJson<{ cards: PinnedAgent[] }>(`/api/agent-cards?pageSize=${most}`, signal)).cards;
}

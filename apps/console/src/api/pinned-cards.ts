import { get } from './http.js';

/** The card of an agent elsewhere, as it was pinned when the agent was first called. */
export interface PinnedAgent {
  url: string;
  name: string;
}

/** Lists agents elsewhere that this service has called, at most `most` of them. @throws ApiProblem */
export async function listPinnedCards(most: number, signal: AbortSignal): Promise<PinnedAgent[]> {
  return (await get<{ cards: PinnedAgent[] }>(`/api/agent-cards?pageSize=${most}`, signal)).cards;
}

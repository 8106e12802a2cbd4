import type { Schemas } from '#libs/client';
import { getJson } from './http.js';

/**
 * Lists at most `most` remote agents that this service has called.
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export async function listPinnedCards(most: number, signal: AbortSignal): Promise<Schemas['CardView'][]> {
  return (await getJson<Schemas['CardPageView']>(`/api/agent-cards?pageSize=${most}`, signal)).cards;
}

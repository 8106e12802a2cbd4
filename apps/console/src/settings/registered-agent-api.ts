import type { Schemas } from '#libs/client';
import type { CardCheck } from '../agents/card-report.js';
import { getJson } from '../api/http.js';

export type ListedRegisteredAgent = Schemas['RegisteredAgentView'];
/** Policy of a registered agent. The service leaves out the members whose values are the defaults. */
export type RegisteredAgentPolicy = Partial<ListedRegisteredAgent['policy']>;

/** State of a registered agent: its current card in comparison with the pinned one. */
export interface RegisteredAgentState {
  status: 'ok' | 'changed' | 'unreachable';
  /** Reason why the card cannot be read; absent if it can. */
  reason?: string;
  /** Id of the pinned card; absent if none is pinned. */
  pinId?: string;
  /** True if calls are rejected until the change of the card is accepted. */
  isBlocked: boolean;
}

/** Lists the registered agents of the tenant, over all pages. */
export async function listRegisteredAgents(signal: AbortSignal): Promise<ListedRegisteredAgent[]> {
  const found: ListedRegisteredAgent[] = [];
  let pageToken = '';
  do {
    const query = new URLSearchParams(pageToken === '' ? {} : { pageToken });
    const page = await getJson<Schemas['RegisteredAgentListView']>(`/api/agents?${query}`, signal);
    found.push(...page.agents);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return found;
}

export function getRegisteredAgent(name: string, signal: AbortSignal): Promise<ListedRegisteredAgent> {
  return getJson(`/api/agents/${encodeURIComponent(name)}`, signal);
}

/**
 * Has the service read the current card of an agent and compare it with the pinned card, and returns the result. The
 * status is `unreachable` if the agent's card cannot be read.
 */
export async function readAgentState(url: string, signal: AbortSignal): Promise<RegisteredAgentState> {
  const { card, pin, problems } = await getJson<CardCheck>(`/api/agent-card?${new URLSearchParams({ url })}`, signal);
  const known = { ...(pin && { pinId: pin.id }), isBlocked: pin?.blocked === true };
  if (!card) return { ...known, status: 'unreachable', reason: problems[0]?.detail ?? 'there is no card' };
  const isChanged = pin !== undefined && (pin.status === 'changed' || !pin.same);
  return { ...known, status: isChanged ? 'changed' : 'ok' };
}

import type { Schemas } from '#libs/client';
import { baseOf } from '../api/directory.js';
import { getJson, type Narrowed } from '../api/http.js';
import type { A2aCard } from './agent-card.js';
import type { AgentRef } from './agent-ref.js';
import { type CardMessage, cardMessages } from './card-messages.js';

export interface AgentCardReport {
  /** The card; missing if it cannot be read. */
  card?: A2aCard;
  messages: CardMessage[];
  /** Result of the check of the card's signatures, in a sentence; absent if they were not checked. */
  signature?: string;
}

/**
 * Reads an agent's card and its problems. A remote card is read through the service.
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export async function readCard(ref: AgentRef, signal: AbortSignal): Promise<AgentCardReport> {
  if (ref.kind === 'remote') return remoteCard(ref.url, signal);
  const card = await getJson<A2aCard>(`${baseOf(ref.path)}/.well-known/agent-card.json`, signal);
  return { card, messages: cardMessages(card) };
}

async function remoteCard(url: string, signal: AbortSignal): Promise<AgentCardReport> {
  const query = new URLSearchParams({ url });
  const { card, problems, signature, pin } = await getJson<CardCheck>(`/api/agent-card?${query}`, signal);
  const messages = problems.map(({ level, path, detail }) => ({ level, path, message: detail }));
  const changed = pin && !pin.same ? [pin.blocked ? BLOCKED : CHANGED] : [];
  return {
    ...(card && { card }),
    messages: [...changed, ...messages],
    ...(signature && { signature: SIGNATURES[signature.state] ?? 'This service cannot verify its signature.' }),
  };
}

const SIGNATURES: Readonly<Record<string, string>> = {
  valid: 'The signature is valid.',
  unsigned: 'The card is not signed.',
  invalid: 'The signature is not valid.',
};

const BLOCKED: CardMessage = {
  level: 'error',
  path: '',
  message: 'The card has changed: the agent is not called until the change is accepted.',
};

const CHANGED: CardMessage = {
  level: 'warning',
  path: '',
  message: 'The card has changed since this service called the agent for the first time.',
};

/** Answer of the service about a card that it has read. */
export type CardCheck = Narrowed<
  Schemas['CardPreviewView'],
  {
    card?: A2aCard;
    signature?: { state: string };
    /** Comparison with the card that was pinned when the agent was first called; absent if none is pinned. */
    pin?: { id: string; status: string; same: boolean; blocked: boolean };
  }
>;

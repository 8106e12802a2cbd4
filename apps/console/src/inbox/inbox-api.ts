import type { Schemas } from '#libs/client';
import type { GatewayEventFrame } from '../api/gateway.js';
import { callApi, getJson } from '../api/http.js';

/** A pending question of a run. */
export type InboxItem = Schemas['InboxItem'];
export type InboxPage = Schemas['InboxPage'];

export function listQuestions(assignee: string, pageToken: string, signal: AbortSignal): Promise<InboxPage> {
  const query = Object.entries({ assignee, pageToken }).filter(([, value]) => value !== '');
  return getJson(`/api/inbox?${new URLSearchParams(query).toString()}`, signal);
}

/** Maximum number of pending questions that are counted. */
const MOST_COUNTED = 9;

/**
 * Counts the pending questions: `3`, or `9+` for more than nine; empty for none.
 * @throws ApiProblem if the service refuses the request; a refusal with 401 opens no sign-in dialog
 */
export async function countQuestions(signal: AbortSignal): Promise<string> {
  const path = `/api/inbox?pageSize=${MOST_COUNTED + 1}`;
  const { items } = await callApi<InboxPage>('GET', path, { signal, isSilent: true });
  if (items.length > MOST_COUNTED) return `${MOST_COUNTED}+`;
  return items.length === 0 ? '' : String(items.length);
}

/** Types of run events that change the pending questions. */
const CHANGES = new Set([
  'input.required',
  'input.received',
  'a2a.received',
  'a2a.sending',
  'node.resumed',
  'workflow.canceled',
  'done',
]);

/** True if an event may change the pending questions. */
export function changesQuestions({ type }: GatewayEventFrame): boolean {
  return CHANGES.has(String(type));
}

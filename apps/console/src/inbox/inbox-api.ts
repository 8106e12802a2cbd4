import type { Schemas } from '#libs/client';
import { getJson } from '../api/http.js';

/** A pending question of a run. */
export type InboxItem = Schemas['InboxItem'];
export type InboxPage = Schemas['InboxPage'];

export function listQuestions(assignee: string, pageToken: string, signal: AbortSignal): Promise<InboxPage> {
  const query = Object.entries({ assignee, pageToken }).filter(([, value]) => value !== '');
  return getJson(`/api/inbox?${new URLSearchParams(query).toString()}`, signal);
}

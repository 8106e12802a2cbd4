import { get } from '../api/http.js';

/** A question of a run that nobody has answered yet. */
export interface InboxItem {
  runId: string;
  workflow: string;
  node: string;
  /** What an answer names. */
  instance: string;
  text: string;
  /** A JSON Schema of the answer; without one it is a text. */
  form?: unknown;
  assignee?: string;
  deadline?: string;
  since: string;
}

export interface InboxPage {
  items: InboxItem[];
  /** Empty on the last page. */
  nextPageToken: string;
}

export function inboxPage(assignee: string, pageToken: string | undefined, signal: AbortSignal): Promise<InboxPage> {
  const query = Object.entries({ assignee, pageToken: pageToken ?? '' }).filter(([, value]) => value !== '');
  return get(`/api/inbox?${new URLSearchParams(query).toString()}`, signal);
}

/** The first pages as one; each begins where the one before ended. */
export async function inboxPages(assignee: string, count: number, signal: AbortSignal): Promise<InboxPage> {
  const items: InboxItem[] = [];
  let token: string | undefined;
  for (let page = 0; page < count && token !== ''; page += 1) {
    const next = await inboxPage(assignee, token, signal);
    items.push(...next.items);
    token = next.nextPageToken;
  }
  return { items, nextPageToken: token ?? '' };
}

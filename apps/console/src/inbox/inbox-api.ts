import { getJson } from '../api/http.js';

/** A pending question of a run. */
export interface InboxItem {
  runId: string;
  workflow: string;
  node: string;
  /** Instance of the node; an answer names it. */
  instance: string;
  text: string;
  /** JSON Schema of the answer; without it, the answer is a text. */
  form?: unknown;
  assignee?: string;
  deadline?: string;
  since: string;
}

export interface InboxPage {
  items: InboxItem[];
  /** Token of the next page; empty on the last page. */
  nextPageToken: string;
}

export function inboxPage(assignee: string, pageToken: string | undefined, signal: AbortSignal): Promise<InboxPage> {
  const query = Object.entries({ assignee, pageToken: pageToken ?? '' }).filter(([, value]) => value !== '');
  return getJson(`/api/inbox?${new URLSearchParams(query).toString()}`, signal);
}

/** Fetches the first `count` pages of the inbox as a single page. */
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

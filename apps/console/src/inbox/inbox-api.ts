import type { Schemas } from '#libs/client';
import { getJson } from '../api/http.js';

/** A pending question of a run. */
export type InboxItem = Schemas['InboxItem'];
export type InboxPage = Schemas['InboxPage'];

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

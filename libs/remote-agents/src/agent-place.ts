import { CARD_PATH } from '#libs/a2a-client';
import { withoutTrailing } from '#libs/protocol';

/** Normalizes the URL of an agent or its card, with or without a trailing slash, to one key. */
export function agentPlace(agentUrl: string): string {
  const url = new URL(agentUrl);
  url.hash = '';
  return withoutTrailing(url.href.replace(CARD_PATH, ''), '/');
}

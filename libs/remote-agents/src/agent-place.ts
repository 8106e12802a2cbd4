import { CARD_PATH } from '#libs/a2a-client';
import { withoutTrailing } from '#libs/protocol';

/** One place for an agent, whether its callers name it or its card, with a slash at the end or without. */
export function agentPlace(agentUrl: string): string {
  const url = new URL(agentUrl);
  url.hash = '';
  return withoutTrailing(url.href.replace(CARD_PATH, ''), '/');
}

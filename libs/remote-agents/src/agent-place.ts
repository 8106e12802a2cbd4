import { CARD_PATH } from '#libs/a2a-client';

/** One place for an agent, whether its callers name it or its card, with a slash at the end or without. */
export function agentPlace(agentUrl: string): string {
  const url = new URL(agentUrl);
  url.hash = '';
  return url.href.replace(CARD_PATH, '').replace(/\/+$/, '');
}

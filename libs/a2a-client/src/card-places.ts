import { withoutTrailing } from '#libs/protocol';

const WELL_KNOWN = '/.well-known/agent-card.json';

/** Pattern for the end of a card's URL: the well-known place, that of A2A 0.2, and that of the pre-1.0 dialect. */
export const CARD_PATH = /\/((\.well-known\/)?agent-card(\.json)?|\.well-known\/agent\.json)$/;

/** Returns the URL of an agent's own card. */
export function ownCardUrl(url: string): string {
  return CARD_PATH.test(url) ? url : `${withoutTrailing(url, '/')}${WELL_KNOWN}`;
}

/** Returns the URL of the card of an agent's host, which may be the agent's too. */
export function hostCardUrl(url: string): string {
  return `${new URL(url).origin}${WELL_KNOWN}`;
}

/** Returns the URLs where an agent of A2A 0.2 may have its card: its own, and that of its host. */
export function legacyCardUrls(url: string): string[] {
  const places = [withoutTrailing(url, '/'), new URL(url).origin];
  return [...new Set(places)].map((place) => `${place}/.well-known/agent.json`);
}

/** Returns the URL where an agent of the pre-1.0 dialect has its card. */
export function pre10CardUrl(url: string): string {
  return `${withoutTrailing(url, '/')}/agent-card`;
}

/** True for a URL where only an agent of the pre-1.0 dialect needs to have its card. */
export function isPre10CardUrl(url: string): boolean {
  return new URL(url).pathname.endsWith('/agent-card');
}

/** True if a URL, as `URL.href` writes it, names an agent or a card of the service at one of these base URLs. */
export function isOfService(url: string, bases: readonly string[]): boolean {
  return bases.some(
    (base) => url === `${base}/a2a` || url.startsWith(`${base}/a2a/`) || url === `${base}${WELL_KNOWN}`,
  );
}

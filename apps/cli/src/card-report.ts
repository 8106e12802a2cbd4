import {
  AgentCallError,
  CARD_PATH,
  hostCardUrl,
  isAboveUrl,
  ownCardUrl,
  pre10CardUrl,
  readAgentCard,
} from '#libs/a2a-client';
import { isJsonObject } from '#libs/protocol';
import { cardProblems, type CardVersion, cardVersion } from '#libs/remote-agents';
import { CommandError, EXIT } from './exit-code.js';

/** Card of an agent as it was received, and its problems. */
export interface CardReport {
  /** URL at which the card was found. */
  cardUrl: string;
  version: CardVersion;
  card: object;
  problems: { level: 'error' | 'warning'; path: string; detail: string }[];
}

const HEADERS = { accept: 'application/json', 'a2a-version': '1.0' };
const LONGEST_MS = 10_000;

/**
 * Reads the card of an agent from the first of these places that has one:
 * - the URL itself, and no other place, if it is the URL of a card
 * - below the URL
 * - at the origin, unless that card belongs to another agent
 * - below the URL, at the path from before A2A 1.0
 *
 * @param key headers with the caller's credentials, if any
 * @throws CommandError if no place has the agent's card, or a place cannot be reached
 */
export async function cardReport(url: string, key: Readonly<Record<string, string>>): Promise<CardReport> {
  const own = CARD_PATH.test(new URL(url).pathname) ? [url] : [ownCardUrl(url), pre10CardUrl(url)];
  const places = new Set(own.length === 1 ? own : [ownCardUrl(url), hostCardUrl(url), pre10CardUrl(url)]);
  const misses: string[] = [];
  for (const cardUrl of places) {
    const { status, text } = await fetchCard(cardUrl, key);
    const card = status === 200 ? tryParseCard(text) : undefined;
    if (isJsonObject(card) && (own.includes(cardUrl) || !isOfAnother(text, url))) {
      const version = cardVersion(cardUrl, card);
      return { cardUrl, version, card, problems: cardProblems(card, version) };
    }
    if (cardUrl === pre10CardUrl(url)) continue;
    misses.push(
      isJsonObject(card)
        ? `the card at ${cardUrl} belongs to another agent`
        : status === 200
          ? `there is no JSON object at ${cardUrl}`
          : `there is no card at ${cardUrl} (HTTP ${status})`,
    );
  }
  throw new CommandError(misses.join('\n'), EXIT.failed);
}

function isOfAnother(text: string, url: string): boolean {
  try {
    const card = readAgentCard(text);
    return card !== undefined && isAboveUrl(card, url);
  } catch (error) {
    if (error instanceof AgentCallError) return false;
    throw error;
  }
}

async function fetchCard(
  url: string,
  key: Readonly<Record<string, string>>,
): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, { headers: { ...HEADERS, ...key }, signal: AbortSignal.timeout(LONGEST_MS) });
    return { status: response.status, text: await response.text() };
  } catch {
    throw new CommandError(`${url} cannot be reached`, EXIT.failed);
  }
}

function tryParseCard(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

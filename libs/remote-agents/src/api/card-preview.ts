import { Injectable } from '@nestjs/common';
import {
  AgentCallError,
  CARD_PATH,
  hostCardUrl,
  isOfService,
  ownCardUrl,
  pre10CardUrl,
  readAgentCard,
} from '#libs/a2a-client';
import { type OutboundAnswer, type OutboundClient, OutboundFault, OutboundHttp } from '#libs/http-client';
import { malformedRequest, ServiceAddress } from '#libs/http-server';
import {
  type AgentCard,
  decodeAgentCard,
  isJsonObject,
  type JsonObject,
  tryParseJson,
  urlProblem,
} from '#libs/protocol';
import { cardContent } from '../card-changes.js';
import { agentPlace } from '../card-pins.js';
import { type CardSignatureReport, CardSignatures } from '../card-signatures.js';
import { RemoteAgentCards, type RemoteAgentCardStatus } from '../remote-agent-cards.js';
import { type CardProblem, cardProblems, type CardVersion, cardVersion } from './card-problems.js';

/** Current card of an agent, with its problems, the state of its signatures, and its pin. */
export interface CardPreview {
  url: string;
  /** URL that the card was read from; absent if there is no card. */
  cardUrl?: string;
  /** A2A version of the card; absent if there is no card. */
  version?: CardVersion;
  /** Card in the form of A2A 1.0; absent if it cannot be read. */
  card?: AgentCard;
  signature?: Pick<CardSignatureReport, 'state' | 'signatures'>;
  /** Pin of this agent, if any. `same` is true if the current card equals the pinned card. */
  pin?: { id: string; status: RemoteAgentCardStatus; blocked: boolean; same: boolean };
  problems: CardProblem[];
}

const HEADERS = { accept: 'application/json', 'a2a-version': '1.0' };
/** Time limit of a request in milliseconds. It is short, as a person waits for the answer. */
const TOTAL_MS = 8_000;
const MAX_BYTES = 1024 * 1024;
/** Maximum nesting depth of the JSON of a card. */
const DEEPEST_CARD = 500;

/** Reads the current card of an agent for a person who considers calling the agent. A preview changes no pin. */
@Injectable()
export class CardPreviews {
  private readonly http: OutboundClient;

  constructor(
    http: OutboundHttp,
    address: ServiceAddress,
    private readonly signatures: CardSignatures,
    private readonly cards: RemoteAgentCards,
  ) {
    this.http = http.reachingSelf((url) => isOfService(url, address.ownUrls));
  }

  /**
   * Reads the card of an agent and checks it.
   * @param url http or https URL of an agent or its card
   * @throws ProblemError 400 for a URL with a password
   */
  async previewCard(url: string, tenant: string): Promise<CardPreview> {
    const problem = urlProblem(url);
    if (problem !== undefined) throw malformedRequest({ path: 'url', detail: problem });
    const problems: CardProblem[] = [];
    for (const cardUrl of placesOf(url)) {
      const found = await this.readDocument(cardUrl);
      if ('json' in found) return this.buildPreview(url, cardUrl, found, tenant);
      // Few agents have a card at the place from before A2A 1.0, so its absence is not reported.
      if (cardUrl !== pre10CardUrl(url)) problems.push({ level: 'error', path: 'url', detail: found.detail });
      if (found.final) break;
    }
    return { url, problems };
  }

  private async buildPreview(
    url: string,
    cardUrl: string,
    { text, json }: CardDocument,
    tenant: string,
  ): Promise<CardPreview> {
    const version = cardVersion(cardUrl, json);
    const problems = cardProblems(json, version);
    const card = tryReadCard(text);
    if (!card) return { url, cardUrl, version, problems: problems.length > 0 ? problems : [UNREADABLE] };
    const received = { url: cardUrl, text, card };
    const { state, signatures } = await this.signatures.verifyCard(received);
    const signature = { state, signatures };
    const pin = await this.cards.findCardAt(tenant, agentPlace(url));
    return {
      url,
      cardUrl,
      version,
      card: decodeAgentCard(card),
      signature,
      ...(pin && {
        pin: {
          id: pin.id,
          status: pin.status,
          blocked: pin.blocked,
          same: pin.hash === cardContent(received).hash,
        },
      }),
      problems: [...problems, ...signatureProblems(signature)],
    };
  }

  private async readDocument(cardUrl: string): Promise<CardDocument | Miss> {
    try {
      const call = { url: new URL(cardUrl), method: 'GET' as const, headers: HEADERS, totalMs: TOTAL_MS };
      return await documentOf(await this.http.request(call), cardUrl);
    } catch (error) {
      return toMiss(error);
    }
  }
}

interface CardDocument {
  text: string;
  json: JsonObject;
}

/** Reason why a URL has no card. `final` is true if the other URLs of the same agent need not be tried. */
interface Miss {
  detail: string;
  final: boolean;
}

const UNREADABLE: CardProblem = { level: 'error', path: '', detail: 'is not an agent card' };

function placesOf(url: string): string[] {
  if (CARD_PATH.test(new URL(url).pathname)) return [url];
  return [...new Set([ownCardUrl(url), hostCardUrl(url), pre10CardUrl(url)])];
}

async function documentOf(answer: OutboundAnswer, cardUrl: string): Promise<CardDocument | Miss> {
  if (answer.status !== 200) {
    answer.discardBody();
    return { detail: `there is no agent card at ${cardUrl} (HTTP ${answer.status})`, final: false };
  }
  const text = await answer.readText(MAX_BYTES);
  const json = parseCardJson(text);
  return json ? { text, json } : { detail: `there is no JSON object at ${cardUrl}`, final: false };
}

function parseCardJson(text: string): JsonObject | undefined {
  const json = tryParseJson(text, DEEPEST_CARD);
  return isJsonObject(json) ? json : undefined;
}

function tryReadCard(text: string): ReturnType<typeof readAgentCard> {
  try {
    return readAgentCard(text);
  } catch (error) {
    if (error instanceof AgentCallError) return undefined;
    throw error;
  }
}

function signatureProblems({ state, signatures }: Pick<CardSignatureReport, 'state' | 'signatures'>): CardProblem[] {
  if (state === 'valid' || state === 'unsigned') return [];
  return signatures.map(({ reason = '' }, place) => ({
    level: state === 'invalid' ? 'error' : 'warning',
    path: `signatures[${place}]`,
    detail: reason,
  }));
}

/** Converts an error of the outbound client to a Miss. The text has no internal address. Other errors are thrown. */
function toMiss(error: unknown): Miss {
  if (!(error instanceof OutboundFault)) throw error;
  const detail = MISSES[error.kind] ?? `the agent cannot be reached: ${error.message}`;
  return { detail, final: true };
}

const MISSES: Partial<Record<OutboundFault['kind'], string>> = {
  refused: 'the address may not be called',
  timeout: 'the agent did not answer in time',
  'too-long': `the card is longer than ${MAX_BYTES} bytes`,
};

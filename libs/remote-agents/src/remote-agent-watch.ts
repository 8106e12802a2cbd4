import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { AgentCallError, type AgentCallOptions, CardGuard, readAgentCard, type ReceivedCard } from '#libs/a2a-client';
import { retryWhileUnreachable } from '#libs/postgres';
import { type JsonObject, LONGEST_URL, redactedUrl, textStart, TOO_LONG_URL } from '#libs/protocol';
import { type CardConfig, type FactPayloads, type Facts, Metrics, OnFact } from '#libs/service';
import { cardChanges, cardContent, isSignificant, keptContent, NO_CARD } from './card-changes.js';
import { agentPlace, type CardPin, type CardPins, type SeenChange } from './card-pins.js';
import type { CardSignatureReport, CardSignatures } from './card-signatures.js';

export interface RemoteAgentWatchOptions {
  config: CardConfig;
  signatures: Pick<CardSignatures, 'verifyCard'>;
  pins: CardPins;
  metrics: Metrics;
  facts: Pick<Facts, 'emit'>;
  /** True if this service itself serves the agent at a URL. The cards of such agents are not checked. */
  isOwn: (agentUrl: string) => boolean;
}

/**
 * Milliseconds until the use of an unchanged card is recorded again, so that its pin does not count as unused.
 */
const SEEN_MS = 600_000;
const MAX_ROUNDS = 50;
const MAX_NAME = 200;
const SHOWN_PATHS = 10;
const CARDLESS = 'no card';

/** Admitted call to an agent. The card may be long, so only its digest is kept. */
interface Admitted {
  /** Digest of the card that was admitted. */
  digest: string;
  pin?: Pick<CardPin, 'id' | 'hash' | 'url'> | undefined;
  seenAt: number;
}

/** Problem of the signatures of a card. `mayPass` is set if a retry may succeed. */
type SignatureProblem = { text: string } & Pick<CardSignatureReport, 'mayPass'>;

/**
 * Admits or refuses calls to remote agents by their cards:
 * - A card must be signed, if `CARD_SIGNATURES` requires it.
 * - A card must be unchanged since it was pinned, or `CARD_CHANGE_POLICY` applies.
 *
 * An admitted card is not examined again until its text changes. Every ten minutes its use is recorded, or, if
 * signatures are required, the card is examined again.
 */
export class RemoteAgentWatch extends CardGuard {
  private readonly logger = new Logger(RemoteAgentWatch.name);
  private readonly admitted = new LRUCache<string, Admitted>({ max: 1_000 });
  private readonly verified = new WeakSet<ReceivedCard>();
  private readonly digests = new WeakMap<ReceivedCard, string>();
  private readonly changeCount;
  private readonly signatureCount;

  constructor(private readonly options: RemoteAgentWatchOptions) {
    super();
    const { metrics } = options;
    this.changeCount = metrics.counter('parley_card_changes_total', "Changes of agents' cards by what they led to", [
      'outcome',
    ]);
    this.signatureCount = metrics.counter(
      'parley_card_signatures_total',
      "Agents' cards that were looked at by the state of their signatures",
      ['state'],
    );
  }

  override admitCard(
    agentUrl: string,
    received: ReceivedCard | undefined,
    { scope, signal }: Pick<AgentCallOptions, 'scope' | 'signal'>,
  ): Promise<void> | undefined {
    if (this.options.isOwn(agentUrl)) return undefined;
    const tenant = scope?.tenant ?? '';
    const key = `${tenant.length}:${tenant}${agentUrl}`;
    const known = this.admitted.get(key);
    const digest = received ? this.digestOf(received) : CARDLESS;
    if (known?.digest === digest) {
      if (Date.now() - known.seenAt < SEEN_MS) return undefined;
      // If signatures are required, the card is verified again, as a key may have been withdrawn meanwhile.
      if (this.options.config.signatures !== 'require') return this.stillInUse(key, known);
    }
    // The entry is deleted even if the card is then refused: the next card, also the previous one, is examined.
    this.admitted.delete(key);
    return this.examineCard(tenant, agentPlace(agentUrl), received, signal).then((pin) => {
      const kept = pin && { id: pin.id, hash: pin.hash, url: pin.url };
      this.admitted.set(key, { digest, pin: kept, seenAt: Date.now() });
    });
  }

  private digestOf(received: ReceivedCard): string {
    const { url, text } = received;
    const known = this.digests.get(received);
    const digest = known ?? createHash('sha256').update(`${url}\n${text}`).digest('base64');
    if (known === undefined) this.digests.set(received, digest);
    return digest;
  }

  override async findPinnedCard(
    agentUrl: string,
    { scope }: Pick<AgentCallOptions, 'scope'>,
  ): Promise<JsonObject | undefined> {
    const { isOwn, pins, config } = this.options;
    if (isOwn(agentUrl)) return undefined;
    const url = agentPlace(agentUrl);
    const card = (await pins.findPin(scope?.tenant ?? '', url))?.card ?? undefined;
    if (card === undefined || config.signatures !== 'require') return card;
    // The card may have been pinned before signatures were required.
    const text = JSON.stringify(card);
    const read = readAgentCard(text);
    return read && !(await this.signatureProblem(url, { url, text, card: read })) ? card : undefined;
  }

  /**
   * Checks the signatures of a card and compares the card with the pinned card.
   * @param signal signal of the call. Under the policy `block`, the comparison is retried while the database is
   * unreachable, until this signal aborts.
   * @throws AgentCallError if the call is refused
   */
  private async examineCard(
    tenant: string,
    url: string,
    received: ReceivedCard | undefined,
    signal: AbortSignal | undefined,
  ): Promise<CardPin | undefined> {
    // An index entry of PostgreSQL holds 2,704 bytes, and encoding lengthens URLs.
    if (url.length > LONGEST_URL) throw new AgentCallError('refused', `the URL ${TOO_LONG_URL}`);
    await this.checkSignatures(url, received);
    const blocks = this.options.config.changes === 'block';
    const compareCard = () => this.compareWithPin(tenant, url, received);
    try {
      return await (blocks && signal ? retryWhileUnreachable(compareCard, signal) : compareCard());
    } catch (error) {
      if (error instanceof AgentCallError || blocks) throw error;
      this.logger.warn(
        { err: error, url: redactedUrl(url) },
        "An agent's card could not be compared with the pinned one",
      );
      return undefined;
    }
  }

  private async checkSignatures(url: string, received: ReceivedCard | undefined): Promise<void> {
    const policy = this.options.config.signatures;
    if (policy === 'require') {
      const problem = received ? await this.signatureProblem(url, received) : { text: 'the agent has no card' };
      if (!problem) return;
      const { text, mayPass } = problem;
      // The kind `connect` lets the call be retried, as for an unreachable agent.
      const kind = mayPass ? 'connect' : 'untrusted-card';
      throw new AgentCallError(kind, `the agent card is not signed as required: ${text}`);
    } else if (policy === 'warn' && received && !this.verified.has(received)) {
      // Under the policy `warn`, the verification does not delay the call.
      this.verified.add(received);
      void this.signatureProblem(url, received);
    }
  }

  private async signatureProblem(url: string, received: ReceivedCard): Promise<SignatureProblem | undefined> {
    const { state, signatures, mayPass } = await this.options.signatures.verifyCard(received);
    this.signatureCount.inc({ state });
    if (state === 'valid') return undefined;
    if (state === 'unsigned') return { text: 'it has no signature' };
    const reasons = signatures.flatMap(({ reason }) => reason ?? []);
    this.logger.warn({ url: redactedUrl(url), state, signatures }, 'No signature of an agent card is valid');
    return { text: `its signature ${[...new Set(reasons)].join('; ')}`, ...(mayPass && { mayPass }) };
  }

  /**
   * Compares a card with the pinned card. If another replica changes the pin meanwhile, compares again.
   * @throws Error after MAX_ROUNDS comparisons; AgentCallError `changed-card` under the policy `block`
   */
  private async compareWithPin(
    tenant: string,
    url: string,
    received: ReceivedCard | undefined,
  ): Promise<CardPin | undefined> {
    const { pins } = this.options;
    const seen = received ? cardContent(received) : NO_CARD;
    const card = received ? (JSON.parse(received.text) as JsonObject) : null;
    const shown = { hash: seen.hash, name: printableName(card), card };
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const pin = (await pins.findPin(tenant, url)) ?? (received && (await pins.pinCard(tenant, url, shown)));
      if (!pin) return undefined;
      if (pin.hash === seen.hash) {
        await pins.seenAgain(pin);
        return pin;
      }
      if (pin.pending?.hash === seen.hash) return this.enforcePolicy(pin, pin.pending.paths);
      const changes = cardChanges(keptContent(pin.card), seen);
      const significant = isSignificant(changes);
      const accepted = !significant || this.options.config.changes === 'allow';
      const change: SeenChange = { ...shown, changes, significant, accepted };
      const isNew = await pins.noteChange(pin, change);
      if (isNew === undefined) continue;
      if (isNew) this.reportChange(tenant, url, change);
      if (accepted) return { ...pin, hash: seen.hash, card };
      return this.enforcePolicy(
        pin,
        changes.filter((it) => it.significant).map(({ path }) => path),
      );
    }
    throw new Error(`The card of ${redactedUrl(url)} is changing too often to be compared`);
  }

  /**
   * Applies `CARD_CHANGE_POLICY` to a change that is not accepted. Under any policy but `block` it returns `undefined`
   * instead of a pin: the call is admitted, and the use of the pinned card is not recorded.
   * @throws AgentCallError `changed-card` under the policy `block`
   */
  private enforcePolicy(pin: CardPin, paths: readonly string[]): CardPin | undefined {
    if (this.options.config.changes !== 'block') return undefined;
    this.changeCount.inc({ outcome: 'refused' });
    const shown = paths.slice(0, SHOWN_PATHS).map((path) => path || 'the whole card');
    const more = paths.length > SHOWN_PATHS ? ` and ${paths.length - SHOWN_PATHS} more` : '';
    const text = `the agent card has changed (${shown.join(', ')}${more}) and the change is not accepted yet`;
    throw new AgentCallError('changed-card', `${text}: card ${pin.id}`);
  }

  private reportChange(tenant: string, url: string, { changes, significant }: SeenChange): void {
    const policy = this.options.config.changes;
    const outcome = !significant ? 'minor' : { allow: 'allowed', warn: 'warned', block: 'blocked' }[policy];
    this.changeCount.inc({ outcome });
    const paths = changes.map(({ path }) => path);
    const blocked = outcome === 'blocked';
    this.options.facts.emit('card.changed', { url: redactedUrl(url), tenant, paths, policy, significant, blocked });
  }

  /**
   * Records that a pinned card is in use. If the pin was deleted or replaced meanwhile, the next call examines the card
   * again.
   */
  private stillInUse(key: string, known: Admitted): undefined {
    known.seenAt = Date.now();
    const { pin } = known;
    if (!pin) return;
    const noted = this.options.pins.inUse(pin).then((isPinned) => {
      if (!isPinned && this.admitted.get(key) === known) this.admitted.delete(key);
    });
    noted.catch((error: unknown) => {
      this.logger.warn({ err: error, url: redactedUrl(pin.url) }, 'The last use of a card could not be recorded');
    });
  }
}

/** Returns the name in a card without control characters, for lists. */
function printableName(card: JsonObject | null): string {
  const name = card?.['name'];
  return typeof name === 'string' ? textStart(name.replaceAll(/\p{Cc}/gu, ' '), MAX_NAME) : '';
}

/** Reports changed cards of remote agents to operators: in the log, in the audit log and in a metric. */
@Injectable()
export class ChangedCards {
  private readonly logger = new Logger(ChangedCards.name);
  private readonly auditLogger = new Logger('Audit');
  private readonly changed;

  constructor(metrics: Metrics) {
    const description = "Agents' cards that changed, as found by this replica, by CARD_CHANGE_POLICY and its effect";
    this.changed = metrics.counter('parley_cards_changed_total', description, ['policy', 'blocked']);
  }

  @OnFact('card.changed')
  countChange({ policy, blocked }: FactPayloads['card.changed']): void {
    this.changed.inc({ policy, blocked: String(blocked) });
  }

  @OnFact('card.changed')
  logChange({ url, paths, policy, significant }: FactPayloads['card.changed']): void {
    if (significant && policy !== 'allow') this.logger.warn({ url, paths, policy }, "An agent's card has changed");
    else this.logger.log({ url, paths }, "An agent's card has changed");
  }

  @OnFact('card.changed')
  auditChange({ url, tenant, policy, blocked }: FactPayloads['card.changed']): void {
    this.auditLogger.log({ card: { url, tenant, policy, blocked } }, 'The card of an agent has changed');
  }
}

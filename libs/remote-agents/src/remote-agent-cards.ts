import { Injectable } from '@nestjs/common';
import { cutPage, ProblemError, QueryPageSize, QueryPageToken, QueryWord } from '#libs/http-server';
import { Database } from '#libs/postgres';
import type { JsonObject } from '#libs/protocol';
import { AppConfig } from '#libs/service';
import type { CardChange } from './card-changes.js';

export const CARD_STATUSES = ['pinned', 'changed'] as const;

/** Query of one page of pinned cards. */
export class CardsQuery {
  @QueryWord(CARD_STATUSES)
  status?: (typeof CARD_STATUSES)[number];

  @QueryPageSize(50)
  pageSize = 50;

  @QueryPageToken((text) => urlOf(text) !== undefined, tokenAfter({ url: 'https://agent.example.com/a2a' }))
  pageToken?: string;

  /** URL of the agent whose card was the last one of the previous page; `undefined` for the first page. */
  get after(): string | undefined {
    return this.pageToken ? urlOf(this.pageToken) : undefined;
  }
}

function tokenAfter({ url }: { url: string }): string {
  return Buffer.from(url).toString('base64url');
}

function urlOf(token: string): string | undefined {
  const url = Buffer.from(token, 'base64url').toString();
  return /^https?:\/\/[\x21-\x7e]+$/.test(url) ? url : undefined;
}

/** Status of a pinned card. `changed`: a card that differs from the pinned one was seen and is not accepted yet. */
export type RemoteAgentCardStatus = 'pinned' | 'changed';

/** Pinned card of a called agent, as lists show it. */
export interface RemoteAgentCard {
  id: string;
  url: string;
  name: string;
  status: RemoteAgentCardStatus;
  /** True if calls to the agent are refused until the change is accepted. */
  blocked: boolean;
  hash: string;
  /** Hash of the card that waits to be accepted; absent if none waits. */
  seenHash?: string;
  firstSeenAt: string;
  lastSeenAt: string;
  acceptedAt?: string;
  acceptedBy?: string;
}

/** Pinned card with its content and its recorded changes. */
export interface RemoteAgentCardDetail extends RemoteAgentCard {
  /** Pinned card; `null` if it was accepted that the agent has no card. */
  card: JsonObject | null;
  /** Card that waits to be accepted; `null` if the agent no longer has a card. */
  seenCard?: JsonObject | null;
  /** Recorded changes, newest first, at most 50. */
  changes: RecordedChange[];
}

/** Recorded change from one card to another, by the hashes of the cards. */
export interface RecordedChange {
  from: string;
  to: string;
  significant: boolean;
  changes: CardChange[];
  /** Number of times the change was seen. */
  times: number;
  firstSeenAt: string;
  lastSeenAt: string;
  acceptedAt?: string;
  /** User who accepted the change; absent if the policy accepted it. */
  acceptedBy?: string;
}

export interface RemoteAgentCardPage {
  cards: RemoteAgentCard[];
  nextPageToken: string;
}

/**
 * Lists and accepts the pinned cards of the agents that a tenant called, for the API. CardPins stores pins for calls.
 */
@Injectable()
export class RemoteAgentCards {
  private readonly blocks: boolean;

  constructor(
    private readonly database: Database,
    config: AppConfig,
  ) {
    this.blocks = config.cards.changes === 'block';
  }

  /** Returns one page of pinned cards, sorted by URL. */
  async listCards(tenant: string, { status, after, pageSize }: CardsQuery): Promise<RemoteAgentCardPage> {
    const { rows } = await this.database.pool.query<CardRow>(LIST, [
      tenant,
      status ?? null,
      after ?? null,
      pageSize + 1,
    ]);
    const { page, nextPageToken } = cutPage(rows, pageSize, tokenAfter);
    return { cards: page.map((row) => this.toListedCard(row)), nextPageToken };
  }

  /** Returns a pinned card with its content and changes. @throws ProblemError 404 */
  async getDetail(tenant: string, id: string): Promise<RemoteAgentCardDetail> {
    const row = UUID.test(id) ? await this.findRow(tenant, id) : undefined;
    if (!row) throw new ProblemError(404, 'There is no such card');
    const { rows } = await this.database.pool.query<ChangeRow>(CHANGES, [id]);
    return {
      ...this.toListedCard(row),
      card: row.card,
      ...(row.seen_hash !== null && { seenCard: row.seen_card }),
      changes: rows.map(changeOf),
    };
  }

  /**
   * Accepts the changed card that waits to be accepted: it becomes the pinned card.
   * @param by user who accepts the card
   * @param hash hash of the card to accept; absent: any card that waits
   * @throws ProblemError 404; 409 if no card, or one with another hash, waits to be accepted
   */
  async acceptCard(tenant: string, id: string, by: string, hash?: string): Promise<RemoteAgentCardDetail> {
    await this.getDetail(tenant, id);
    const { rowCount } = await this.database.pool.query(ACCEPT, [tenant, id, by, hash ?? null]);
    if (!rowCount) {
      throw new ProblemError(409, 'No such change waits to be accepted: the agent may have changed its card again');
    }
    return this.getDetail(tenant, id);
  }

  /**
   * Returns the pinned card of the agent at a URL (see `agentPlace`), for a preview; `undefined` if no card is pinned.
   */
  async findCardAt(tenant: string, url: string): Promise<RemoteAgentCard | undefined> {
    const { rows } = await this.database.pool.query<CardRow>(AT, [tenant, url]);
    return rows[0] && this.toListedCard(rows[0]);
  }

  private async findRow(tenant: string, id: string): Promise<DetailRow | undefined> {
    const { rows } = await this.database.pool.query<DetailRow>(ONE, [tenant, id]);
    return rows[0];
  }

  private toListedCard(row: CardRow): RemoteAgentCard {
    const changed = row.seen_hash !== null;
    return {
      id: row.id,
      url: row.url,
      name: row.name,
      status: changed ? 'changed' : 'pinned',
      blocked: changed && this.blocks,
      hash: row.hash,
      ...(row.seen_hash !== null && { seenHash: row.seen_hash }),
      firstSeenAt: row.first_seen_at.toISOString(),
      lastSeenAt: row.last_seen_at.toISOString(),
      ...toAcceptance(row),
    };
  }
}

interface Acceptance {
  accepted_at: Date | null;
  accepted_by: string | null;
}

interface CardRow extends Acceptance {
  id: string;
  url: string;
  name: string;
  hash: string;
  seen_hash: string | null;
  first_seen_at: Date;
  last_seen_at: Date;
}

interface DetailRow extends CardRow {
  card: JsonObject | null;
  seen_card: JsonObject | null;
}

interface ChangeRow extends Acceptance {
  from_hash: string;
  to_hash: string;
  significant: boolean;
  changes: CardChange[];
  times: number;
  first_seen_at: Date;
  last_seen_at: Date;
}

function changeOf(row: ChangeRow): RecordedChange {
  return {
    from: row.from_hash,
    to: row.to_hash,
    significant: row.significant,
    changes: row.changes,
    times: row.times,
    firstSeenAt: row.first_seen_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
    ...toAcceptance(row),
  };
}

function toAcceptance({ accepted_at: at, accepted_by: by }: Acceptance): { acceptedAt?: string; acceptedBy?: string } {
  return { ...(at && { acceptedAt: at.toISOString() }), ...(by !== null && { acceptedBy: by }) };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const COLUMNS = 'id, url, name, hash, seen_hash, first_seen_at, last_seen_at, accepted_at, accepted_by';
const LIST = `
  SELECT ${COLUMNS} FROM callee_card
  WHERE tenant = $1 AND ($2::text IS NULL OR (seen_hash IS NOT NULL) = ($2 = 'changed')) AND ($3::text IS NULL OR url > $3)
  ORDER BY url LIMIT $4`;
const ONE = `SELECT ${COLUMNS}, card, seen_card FROM callee_card WHERE tenant = $1 AND id = $2`;
const AT = `SELECT ${COLUMNS} FROM callee_card WHERE tenant = $1 AND url = $2`;
const CHANGES = `
  SELECT from_hash, to_hash, significant, changes, times, first_seen_at, last_seen_at, accepted_at, accepted_by
  FROM callee_card_change WHERE card_id = $1 ORDER BY id DESC`;
const ACCEPT = `
  WITH old AS (
    SELECT id, hash, seen_hash FROM callee_card
    WHERE tenant = $1 AND id = $2 AND seen_hash IS NOT NULL AND ($4::text IS NULL OR seen_hash = $4) FOR UPDATE
  ), noted AS (
    UPDATE callee_card_change change SET accepted_at = now(), accepted_by = $3
    FROM old WHERE change.card_id = old.id AND change.from_hash = old.hash AND change.to_hash = old.seen_hash
  )
  UPDATE callee_card card
  SET hash = card.seen_hash, name = coalesce(card.seen_name, card.name), card = card.seen_card,
      seen_hash = NULL, seen_name = NULL, seen_card = NULL, accepted_at = now(), accepted_by = $3
  FROM old WHERE card.id = old.id`;

import { Injectable, Logger } from '@nestjs/common';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CARD_PATH } from '#libs/a2a-client';
import { Jobs, scheduleUpkeep } from '#libs/job-queue';
import { Database } from '#libs/postgres';
import { type JsonObject, withoutTrailing } from '#libs/protocol';
import { AppConfig } from '#libs/service';
import type { CardChange } from './card-changes.js';

/** Pin of a remote agent: its card as first seen, or as accepted last. */
export interface CardPin {
  id: string;
  /** URL of the agent, normalized by `agentPlace`. */
  url: string;
  hash: string;
  /** Pinned card, as received; `null` if it was accepted that the agent has no card. */
  card: JsonObject | null;
  /** Changed card that waits to be accepted, with the paths of its significant changes; absent if none waits. */
  pending?: { hash: string; paths: string[] };
}

/** Card of an agent as it was seen, for storage. */
export interface SeenCard {
  hash: string;
  /** Name of the agent, without control characters. */
  name: string;
  card: JsonObject | null;
}

/** Card that differs from the pinned card, with the changes. */
export interface SeenChange extends SeenCard {
  changes: readonly CardChange[];
  significant: boolean;
  /** True if the policy accepts the card, so that it becomes the pinned card at once. */
  accepted: boolean;
}

/** Maximum number of changes that are stored for each pin. Older ones are deleted. */
const KEPT_CHANGES = 50;
const FORGOTTEN_AT_ONCE = 500;

/**
 * Stores the pinned cards of the agents that this service calls, one for each tenant and URL, for all replicas.
 * - RemoteAgentWatch compares the card of each call with its pin. RemoteAgentCards lists the pins for the API.
 * - A change of a pin names the hash of the pinned card that it replaces. Of two concurrent changes, one fails, and its
 *   caller must read the pin again and compare.
 */
@Injectable()
export class CardPins {
  constructor(private readonly database: Database) {}

  async findPin(tenant: string, url: string): Promise<CardPin | undefined> {
    const { rows } = await this.database.pool.query<CardPinRow>(FIND, [tenant, url]);
    return rows[0] && pinOf(rows[0]);
  }

  /** Pins a card unless the agent has a pin already. @returns the pin of the agent */
  async pinCard(tenant: string, url: string, { hash, name, card }: SeenCard): Promise<CardPin> {
    await this.database.pool.query(PIN, [tenant, url, hash, name, cardJson(card)]);
    const pin = await this.findPin(tenant, url);
    if (!pin) throw new Error('A pinned card vanished while it was kept');
    return pin;
  }

  /**
   * Records a changed card. If it is `accepted`, it becomes the pinned card; otherwise it waits to be accepted.
   * @returns true for a new change; false for a change that was recorded before; `undefined` if the pin has changed
   * since it was read, and nothing was recorded
   */
  async noteChange(pin: CardPin, change: SeenChange): Promise<boolean | undefined> {
    const { hash, name, card, changes, significant, accepted } = change;
    const statement = accepted ? MOVE : WAIT;
    const { rows } = await this.database.pool.query<{ is_new: boolean }>(statement, [
      pin.id,
      pin.hash,
      hash,
      cardJson(card),
      significant,
      JSON.stringify(changes),
      name,
    ]);
    if (rows[0]?.is_new) await this.database.pool.query(PRUNE, [pin.id, KEPT_CHANGES]);
    return rows[0]?.is_new;
  }

  /** Records that the agent serves the pinned card again. A changed card that waited to be accepted is discarded. */
  async seenAgain({ id, hash }: CardPin): Promise<void> {
    await this.database.pool.query(SEEN_AGAIN, [id, hash]);
  }

  /** Records that a pinned card is in use. @returns true if the pin still has this card */
  async inUse({ id, hash }: Pick<CardPin, 'id' | 'hash'>): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(IN_USE, [id, hash]);
    return rowCount === 1;
  }

  /**
   * Deletes the pins of agents that were not called since a time, except pins with a change that waits to be accepted.
   * The deletion stops early if the signal aborts.
   * @returns the number of deleted pins
   */
  async forgetUnused(unseenSince: Date, signal: AbortSignal): Promise<number> {
    let forgotten = 0;
    for (let gone = FORGOTTEN_AT_ONCE; gone === FORGOTTEN_AT_ONCE && !signal.aborted; forgotten += gone) {
      gone = (await this.database.pool.query(FORGET, [unseenSince, FORGOTTEN_AT_ONCE])).rowCount ?? 0;
    }
    return forgotten;
  }
}

interface CardPinRow {
  id: string;
  url: string;
  hash: string;
  card: JsonObject | null;
  seen_hash: string | null;
  changes: CardChange[] | null;
}

function pinOf({ id, url, hash, card, seen_hash: seen, changes }: CardPinRow): CardPin {
  const paths = (changes ?? []).filter((it) => it.significant).map(({ path }) => path);
  return { id, url, hash, card, ...(seen !== null && { pending: { hash: seen, paths } }) };
}

function cardJson(card: JsonObject | null): string | null {
  return card && JSON.stringify(card);
}

const FIND = `
  SELECT card.id, card.url, card.hash, card.card, card.seen_hash, change.changes
  FROM callee_card card
  LEFT JOIN callee_card_change change
    ON change.card_id = card.id AND change.from_hash = card.hash AND change.to_hash = card.seen_hash
  WHERE card.tenant = $1 AND card.url = $2`;

const PIN = `
  INSERT INTO callee_card (tenant, url, hash, name, card) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant, url) DO NOTHING`;

const SEEN_AGAIN = `
  UPDATE callee_card SET seen_hash = NULL, seen_name = NULL, seen_card = NULL, last_seen_at = now() WHERE id = $1 AND hash = $2`;

const IN_USE = 'UPDATE callee_card SET last_seen_at = now() WHERE id = $1 AND hash = $2';

const FORGET = `
  DELETE FROM callee_card WHERE seen_hash IS NULL AND last_seen_at < $1 AND id = ANY(ARRAY(
    SELECT id FROM callee_card WHERE seen_hash IS NULL AND last_seen_at < $1 LIMIT $2))`;

/**
 * Returns an SQL statement that updates a pin and records the change. If the pin has changed since it was read, nothing
 * is written. For a change that is already recorded, the counter `times` grows.
 * @param pin `UPDATE` statement for the pin
 * @param acceptedAt SQL expression of the time at which the change was accepted
 */
function notingStatement(pin: string, acceptedAt: string): string {
  return `
  WITH pin AS (${pin} RETURNING id)
  INSERT INTO callee_card_change AS change (card_id, from_hash, to_hash, significant, changes, accepted_at)
  SELECT id, $2, $3, $5, $6, ${acceptedAt} FROM pin
  ON CONFLICT (card_id, from_hash, to_hash) DO UPDATE
    SET times = change.times + 1, last_seen_at = now(), changes = EXCLUDED.changes, accepted_at = EXCLUDED.accepted_at
  RETURNING change.times = 1 AS is_new`;
}

const WAIT = notingStatement(
  `UPDATE callee_card SET seen_hash = $3, seen_card = $4, seen_name = $7, last_seen_at = now() WHERE id = $1 AND hash = $2`,
  'NULL',
);
const MOVE = notingStatement(
  `UPDATE callee_card SET hash = $3, card = $4, name = $7, seen_hash = NULL, seen_name = NULL, seen_card = NULL, last_seen_at = now()
   WHERE id = $1 AND hash = $2`,
  'now()',
);
const PRUNE = `
  DELETE FROM callee_card_change WHERE card_id = $1 AND id NOT IN (
    SELECT id FROM callee_card_change WHERE card_id = $1 ORDER BY id DESC LIMIT $2)`;

/** Normalizes the URL of an agent, or of its card, to the key of its pin. A trailing slash is removed. */
export function agentPlace(agentUrl: string): string {
  const url = new URL(agentUrl);
  url.hash = '';
  return withoutTrailing(url.href.replace(CARD_PATH, ''), '/');
}

const PURGE_CARDS = { name: 'callees.purge', match: '7 3 * * *' };

/**
 * Deletes daily the pins of agents that were not called for `CARD_RETENTION`. Without that setting, pins are kept
 * indefinitely.
 */
@Injectable()
export class CardPurgeJob {
  private readonly logger = new Logger(CardPurgeJob.name);

  constructor(
    jobs: Jobs,
    { cards }: AppConfig,
    private readonly pins: CardPins,
  ) {
    const { retentionMs } = cards;
    if (retentionMs === undefined) return;
    scheduleUpkeep(jobs, PURGE_CARDS, (signal) => this.purgeCards(retentionMs, signal));
  }

  private async purgeCards(retentionMs: number, signal: AbortSignal): Promise<void> {
    const unseenSince = new Date(Date.now() - retentionMs);
    const cards = await this.pins.forgetUnused(unseenSince, signal);
    if (cards > 0) this.logger.log({ cards, unseenSince }, 'Deleted the cards of agents that are no longer called');
    signal.throwIfAborted();
  }
}

/**
 * Creates the tables of pinned cards and their changes. A pin has the pinned card, and the card that waits to be
 * accepted.
 */
class CreateCalleeCard1700000000820 implements MigrationInterface {
  readonly name = 'CreateCalleeCard1700000000820';

  async up(runner: QueryRunner): Promise<void> {
    // json, not jsonb: a card is stored as received, with characters that jsonb rejects.
    await runner.query(`
      CREATE TABLE callee_card (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        tenant text COLLATE "C" NOT NULL,
        url text COLLATE "C" NOT NULL,
        hash text COLLATE "C" NOT NULL,
        name text NOT NULL,
        card json,
        seen_hash text COLLATE "C",
        seen_name text,
        seen_card json,
        first_seen_at timestamptz NOT NULL DEFAULT now(),
        last_seen_at timestamptz NOT NULL DEFAULT now(),
        accepted_at timestamptz,
        accepted_by text,
        UNIQUE (tenant, url)
      )`);
    await runner.query(`
      CREATE TABLE callee_card_change (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        card_id uuid NOT NULL REFERENCES callee_card ON DELETE CASCADE,
        from_hash text COLLATE "C" NOT NULL,
        to_hash text COLLATE "C" NOT NULL,
        significant boolean NOT NULL,
        changes json NOT NULL,
        times integer NOT NULL DEFAULT 1,
        first_seen_at timestamptz NOT NULL DEFAULT now(),
        last_seen_at timestamptz NOT NULL DEFAULT now(),
        accepted_at timestamptz,
        accepted_by text,
        UNIQUE (card_id, from_hash, to_hash)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE callee_card_change');
    await runner.query('DROP TABLE callee_card');
  }
}

export const REMOTE_AGENT_MIGRATIONS = [CreateCalleeCard1700000000820];

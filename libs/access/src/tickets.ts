import { randomBytes } from 'node:crypto';
import type { Database } from '#libs/postgres';
import { type Caller, isPermission } from './caller.js';
import { digestOf } from './key-digest.js';

/** Seconds for which a ticket opens a WebSocket. */
const TICKET_SECONDS = 30;
const TICKET_BYTES = 32;
/** Form of a ticket; all characters are those of an HTTP token. */
const FORM = /^[\w-]{43}$/;
/** Maximum number of expired tickets that each new ticket removes. */
const CLEARED_AT_ONCE = 100;

/**
 * Issues tickets that identify a caller once, for thirty seconds, at every replica. A ticket is random and reveals no
 * owner; only its digest is stored. It expires with the key or the token of its owner.
 */
export class Tickets {
  constructor(private readonly database: Pick<Database, 'pool'>) {}

  async makeTicket({ tenant, owner, permissions, proof }: Caller): Promise<{ ticket: string; expiresAt: Date }> {
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    const tokenEndsAt = proof?.endsAt === undefined ? null : new Date(proof.endsAt);
    const { rows } = await this.database.pool.query<{ ends_at: Date }>({
      name: 'socket-ticket-make',
      text: MAKE,
      values: [digestOf(ticket), tenant, owner, [...permissions], proof?.key ?? null, tokenEndsAt],
    });
    return { ticket, expiresAt: rows[0]!.ends_at };
  }

  /** Redeems a ticket: returns its owner, and invalidates it. Of concurrent redemptions only one succeeds. */
  async redeemTicket(ticket: string): Promise<Caller | undefined> {
    if (!FORM.test(ticket)) return undefined;
    const { rows } = await this.database.pool.query<TicketRow>({
      name: 'socket-ticket-redeem',
      text: REDEEM,
      values: [digestOf(ticket)],
    });
    return rows[0]?.holds ? callerOfRow(rows[0]) : undefined;
  }
}

interface TicketRow {
  tenant: string;
  owner: string;
  permissions: string[];
  key_digest: string | null;
  token_ends_at: Date | null;
  holds: boolean;
}

function callerOfRow({ tenant, owner, permissions, key_digest, token_ends_at }: TicketRow): Caller {
  const known = { tenant, owner, permissions: new Set(permissions.filter(isPermission)) };
  if (key_digest === null && token_ends_at === null) return known;
  const proof = {
    ...(key_digest !== null && { key: key_digest }),
    ...(token_ends_at !== null && { endsAt: token_ends_at.getTime() }),
  };
  return { ...known, proof };
}

const MAKE = `
  WITH cleared AS (
    DELETE FROM socket_ticket WHERE digest IN (
      SELECT digest FROM socket_ticket WHERE ends_at <= now() LIMIT ${CLEARED_AT_ONCE} FOR UPDATE SKIP LOCKED)
  )
  INSERT INTO socket_ticket (digest, tenant, owner, permissions, key_digest, token_ends_at, ends_at)
  VALUES ($1, $2, $3, $4, $5, $6, now() + interval '${TICKET_SECONDS} seconds')
  RETURNING ends_at`;

const REDEEM = `
  DELETE FROM socket_ticket AS ticket WHERE digest = $1
  RETURNING tenant, owner, permissions, key_digest, token_ends_at,
    ends_at > now() AND (token_ends_at IS NULL OR token_ends_at > now()) AND (key_digest IS NULL OR EXISTS (
      SELECT FROM api_key
      WHERE api_key.digest = ticket.key_digest AND (api_key.ends_at IS NULL OR api_key.ends_at > now()))) AS holds`;

import { Injectable, Logger } from '@nestjs/common';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { OutboundHttp } from '#libs/http-client';
import { Database, serviceSecret } from '#libs/postgres';
import { A2AError } from '#libs/protocol';
import { AppConfig, ConfigError } from '#libs/service';
import { unauthenticatedError } from './access-errors.js';
import { ApiKeys, digestOf } from './api-keys.js';
import { ANONYMOUS, type Caller, isPermission, type Proof } from './caller.js';
import { type Credentials, NODE_SCHEME } from './credentials.js';
import { ConsoleSessions } from './console-sessions.js';
import { JwtVerifier } from './jwt-verifier.js';

/** Seconds that a ticket opens a WebSocket. */
const TICKET_SECONDS = 30;
const TICKET_BYTES = 32;
/** Pattern of a ticket. All its characters are allowed in an HTTP token. */
const FORM = /^[\w-]{43}$/;
/** Maximum number of expired tickets that are deleted with each new ticket. */
const CLEARED_AT_ONCE = 100;

/**
 * Issues and redeems tickets, which identify a caller once, for thirty seconds, at every replica. A ticket is random
 * text and reveals no owner; only its digest is stored. A ticket also becomes invalid when the key, token or session of
 * its owner does.
 */
class Tickets {
  constructor(private readonly database: Pick<Database, 'pool'>) {}

  async makeTicket({ tenant, owner, permissions, proof }: Caller): Promise<{ ticket: string; expiresAt: Date }> {
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    const tokenEndsAt = proof?.endsAt === undefined ? null : new Date(proof.endsAt);
    const { rows } = await this.database.pool.query<{ ends_at: Date }>({
      name: 'socket-ticket-make',
      text: MAKE,
      values: [
        digestOf(ticket),
        tenant,
        owner,
        [...permissions],
        proof?.key ?? null,
        tokenEndsAt,
        proof?.session ?? null,
      ],
    });
    return { ticket, expiresAt: rows[0]!.ends_at };
  }

  /**
   * Redeems a ticket: returns its owner, and invalidates the ticket; `undefined` for an invalid ticket. Of concurrent
   * redemptions only one succeeds.
   */
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
  session_digest: string | null;
  holds: boolean;
}

function callerOfRow({ tenant, owner, permissions, key_digest, token_ends_at, session_digest }: TicketRow): Caller {
  const known = { tenant, owner, permissions: new Set(permissions.filter(isPermission)) };
  if (key_digest === null && token_ends_at === null) return known;
  const proof = {
    ...(key_digest !== null && { key: key_digest }),
    ...(session_digest !== null && { session: session_digest }),
    ...(token_ends_at !== null && { endsAt: token_ends_at.getTime() }),
  };
  return { ...known, proof };
}

const MAKE = `
  WITH cleared AS (
    DELETE FROM socket_ticket WHERE digest IN (
      SELECT digest FROM socket_ticket WHERE ends_at <= now() LIMIT ${CLEARED_AT_ONCE} FOR UPDATE SKIP LOCKED)
  )
  INSERT INTO socket_ticket (digest, tenant, owner, permissions, key_digest, token_ends_at, session_digest, ends_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, now() + interval '${TICKET_SECONDS} seconds')
  RETURNING ends_at`;

const REDEEM = `
  DELETE FROM socket_ticket AS ticket WHERE digest = $1
  RETURNING tenant, owner, permissions, key_digest, token_ends_at, session_digest,
    ends_at > now() AND (token_ends_at IS NULL OR token_ends_at > now()) AND (key_digest IS NULL OR EXISTS (
      SELECT FROM api_key
      WHERE api_key.digest = ticket.key_digest AND (api_key.ends_at IS NULL OR api_key.ends_at > now())))
    AND (session_digest IS NULL OR EXISTS (
      SELECT FROM console_session WHERE console_session.digest = ticket.session_digest)) AS holds`;

/**
 * Members of a caller that a seal contains. The caller's key or token is not among them: a seal is signed but not
 * encrypted, so intermediaries can read it.
 */
export type SealedCaller = Pick<Caller, 'tenant' | 'owner' | 'permissions'>;

interface Sealed {
  /** Tenant. The other members are owner (`o`), permissions (`p`), and expiry in milliseconds since 1970 (`e`). */
  t: string;
  o: string;
  p: string[];
  e: number;
}

/**
 * Prefix of the text that is signed. A seal for another purpose has another prefix, so its signature does not fit
 * here.
 */
const CONTEXT = 'parley-caller-1:node';
const MAX_LENGTH = 8192;

/**
 * Creates and verifies seals. A seal is a signed text in which one replica names the caller for whom it calls another
 * replica, so that the other replica trusts the name. It contains the caller and an expiry, signed with the shared
 * secret of the replicas (HMAC-SHA-256), in characters of an HTTP token.
 */
export class CallerSeal {
  constructor(private readonly secret: Buffer) {}

  sealCaller({ tenant, owner, permissions }: SealedCaller, endsAt: number): string {
    const content: Sealed = { t: tenant, o: owner, p: [...permissions], e: endsAt };
    const text = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `${text}.${this.signText(text).toString('base64url')}`;
  }

  /**
   * Verifies a seal and returns its caller; `undefined` if no replica created the seal, or the seal has expired.
   * @param now time of the verification, in milliseconds since 1970
   */
  openSeal(seal: string, now = Date.now()): Caller | undefined {
    const [text = '', signature = '', ...rest] = seal.length > MAX_LENGTH ? [] : seal.split('.');
    const given = Buffer.from(signature, 'base64url');
    const expected = this.signText(text);
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return callerOf(JSON.parse(Buffer.from(text, 'base64url').toString()) as Sealed, now);
  }

  private signText(text: string): Buffer {
    return createHmac('sha256', this.secret).update(`${CONTEXT}:${text}`).digest();
  }
}

function callerOf({ t, o, p, e }: Sealed, now: number): Caller | undefined {
  return now >= e ? undefined : { tenant: t, owner: o, permissions: new Set(p.filter(isPermission)) };
}

const logger = new Logger('Authentication');

const NO_KEY =
  'AUTH_API_KEYS: AUTH_MODE is api-key, but neither this variable nor the database has a key: no caller could use the ' +
  'service. Give at least one as name:key';

/**
 * Validity in milliseconds of a seal in a call between replicas. The clocks of two replicas must not differ by more.
 */
const NODE_CALL_MS = 60_000;

/** Verifier of one kind of credentials of callers. It returns `undefined` for invalid credentials. */
interface Verifier {
  findCaller(value: string): Caller | undefined | Promise<Caller | undefined>;
}

/**
 * Identifies the caller of a request, as AUTH_MODE requires. This class verifies all kinds of credentials: API keys,
 * tokens, sessions of the console, seals of replicas, and tickets.
 */
@Injectable()
export class Authentication {
  private constructor(
    private readonly keys: ApiKeys,
    private readonly verifier: Verifier | undefined,
    private readonly seals: CallerSeal,
    private readonly tickets: Tickets,
    private readonly sessions: ConsoleSessions,
  ) {}

  /**
   * Creates the authentication: stores the environment's keys and loads the secret of the replicas.
   * @throws ConfigError if callers need a key and no key exists
   */
  static async openAuthentication(
    config: AppConfig,
    keys: ApiKeys,
    http: OutboundHttp,
    database: Database,
    sessions: ConsoleSessions,
  ): Promise<Authentication> {
    const { auth } = config;
    await keys.seedKeys(auth.keys);
    // With a provider people sign in without a key, and may then create keys.
    if (auth.mode === 'api-key' && !auth.oidc && !(await keys.hasActiveKey())) throw new ConfigError([NO_KEY]);
    // The operator configured the provider, so it may be in a private network.
    const jwt = auth.jwt && new JwtVerifier(auth.jwt, http.trustingFetch(auth.jwt.jwksUrl));
    const verifier = auth.mode === 'api-key' ? keys : jwt;
    const seals = new CallerSeal(await serviceSecret(database, 'caller-seal'));
    return new Authentication(keys, verifier, seals, new Tickets(database), sessions);
  }

  /** True if callers must authenticate. */
  get required(): boolean {
    return this.verifier !== undefined;
  }

  /**
   * Identifies the owner of the credentials. Recently seen credentials are answered from the cache, without a query.
   * @throws A2AError UNAUTHENTICATED for missing or invalid credentials; with status 503 if they cannot be verified
   *   at the moment (as an exception or a rejected promise)
   */
  identifyCaller(credentials: Credentials | undefined): Caller | Promise<Caller> {
    if (!this.verifier) return ANONYMOUS;
    if (!credentials || credentials.value === '') throw unauthenticatedError();
    const found = this.verifyCredentials(credentials, this.verifier);
    if (found instanceof Promise) return found.then(requireCaller, failUnverifiable);
    return requireCaller(found);
  }

  /** True if the key, token or session behind a caller's access is still valid. */
  async isProofValid({ key, session, endsAt }: Proof): Promise<boolean> {
    if (endsAt !== undefined && Date.now() >= endsAt) return false;
    if (session !== undefined && !(await this.sessions.isSessionValid(session))) return false;
    return key === undefined || this.keys.isKeyValid(key);
  }

  /** Issues a ticket: a short-lived text that identifies the caller once, where no header can be sent. */
  issueTicket(caller: Caller): Promise<{ ticket: string; expiresAt: Date }> {
    return this.tickets.makeTicket(caller);
  }

  /**
   * Returns the `Authorization` header of a run's call to a local agent. The header identifies the owner of the run,
   * and never contains a caller's key.
   */
  nodeAuthorization({ tenant, owner }: Pick<Caller, 'tenant' | 'owner'>): string {
    const caller: Caller = { tenant, owner, permissions: new Set(['agents']) };
    return `${NODE_SCHEME} ${this.seals.sealCaller(caller, Date.now() + NODE_CALL_MS)}`;
  }

  private verifyCredentials({ kind, value }: Credentials, verifier: Verifier): ReturnType<Verifier['findCaller']> {
    if (kind === 'bearer') return verifier.findCaller(value);
    if (kind === 'session') return this.sessions.findCaller(value);
    return kind === 'node' ? this.seals.openSeal(value) : this.tickets.redeemTicket(value);
  }
}

function requireCaller(caller: Caller | undefined): Caller {
  if (!caller) throw unauthenticatedError();
  return caller;
}

function failUnverifiable(cause: unknown): never {
  logger.warn({ err: cause }, 'Credentials could not be verified');
  throw new A2AError('INTERNAL', { message: 'Credentials cannot be verified at the moment', status: 503, cause });
}

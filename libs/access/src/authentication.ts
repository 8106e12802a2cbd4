import { Injectable, Logger } from '@nestjs/common';
import { OutboundHttp } from '#libs/outbound';
import { Database, serviceSecret } from '#libs/postgres';
import { A2AError } from '#libs/protocol';
import { AppConfig, ConfigError } from '#libs/service';
import { unauthenticatedError } from './access-errors.js';
import { ApiKeys } from './api-keys.js';
import { ANONYMOUS, type Caller, type Proof } from './caller.js';
import { type Credentials, NODE_SCHEME } from './credentials.js';
import { JwtVerifier } from './jwt-verifier.js';
import { CallerSeal } from './sealed-caller.js';
import { Tickets } from './tickets.js';

const logger = new Logger('Authentication');

const NO_KEY =
  'AUTH_API_KEYS: AUTH_MODE is api-key, but there is no key, neither here nor in the database: nobody could call the ' +
  'service. Give at least one as name:key';

/** Maximum age of a call from one replica to another. The difference of their clocks must be smaller. */
const NODE_CALL_MS = 60_000;

/** Verifier of callers' credentials; it returns `undefined` for invalid ones. */
interface Verifier {
  findCaller(value: string): Caller | undefined | Promise<Caller | undefined>;
}

/** Identifies the caller of a request, as AUTH_MODE requires. All credentials are verified here. */
@Injectable()
export class Authentication {
  private constructor(
    private readonly keys: ApiKeys,
    private readonly verifier: Verifier | undefined,
    private readonly seals: CallerSeal,
    private readonly tickets: Tickets,
  ) {}

  /**
   * Stores the environment's keys and loads the secret of the replicas.
   * @throws ConfigError if callers need a key and there is none
   */
  static async openAuthentication(
    config: AppConfig,
    keys: ApiKeys,
    http: OutboundHttp,
    database: Database,
  ): Promise<Authentication> {
    const { auth } = config;
    await keys.seedKeys(auth.keys);
    if (auth.mode === 'api-key' && !(await keys.hasActiveKey())) throw new ConfigError([NO_KEY]);
    // The operator configured the provider, so it may be in a private network.
    const jwt = auth.jwt && new JwtVerifier(auth.jwt, http.trustingFetch(auth.jwt.jwksUrl));
    const verifier = auth.mode === 'api-key' ? keys : jwt;
    const seals = new CallerSeal(await serviceSecret(database, 'caller-seal'));
    return new Authentication(keys, verifier, seals, new Tickets(database));
  }

  /** True if callers must authenticate. */
  get required(): boolean {
    return this.verifier !== undefined;
  }

  /**
   * Identifies the owner of the credentials. Recently seen credentials are answered from the cache, without a query.
   * @throws A2AError UNAUTHENTICATED, or rejects with it; status 503 if the credentials cannot be verified at the
   *   moment
   */
  identifyCaller(credentials: Credentials | undefined): Caller | Promise<Caller> {
    if (!this.verifier) return ANONYMOUS;
    if (!credentials || credentials.value === '') throw unauthenticatedError();
    const found = this.verifyCredentials(credentials, this.verifier);
    if (found instanceof Promise) return found.then(requireCaller, failUnverifiable);
    return requireCaller(found);
  }

  /** True if the key or token behind a caller's access is still valid. */
  async isProofValid({ key, endsAt }: Proof): Promise<boolean> {
    if (endsAt !== undefined && Date.now() >= endsAt) return false;
    return key === undefined || this.keys.isKeyValid(key);
  }

  /** Issues a short-lived text that identifies the caller once, where no header can be sent. */
  issueTicket(caller: Caller): Promise<{ ticket: string; expiresAt: Date }> {
    return this.tickets.makeTicket(caller);
  }

  /**
   * Returns the `Authorization` of a run's call to a local agent. It identifies the owner of the run, and never
   * contains a caller's key.
   */
  nodeAuthorization({ tenant, owner }: Pick<Caller, 'tenant' | 'owner'>): string {
    const caller: Caller = { tenant, owner, permissions: new Set(['agents']) };
    return `${NODE_SCHEME} ${this.seals.sealCaller(caller, Date.now() + NODE_CALL_MS)}`;
  }

  private verifyCredentials({ kind, value }: Credentials, verifier: Verifier): ReturnType<Verifier['findCaller']> {
    if (kind === 'bearer') return verifier.findCaller(value);
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

import { Injectable } from '@nestjs/common';
import {
  AgentCallError,
  type AgentCallFailure,
  type RequestAuth,
  RequestSigners,
  type SigningRequest,
} from '#libs/a2a-client';
import { OutboundFault } from '#libs/http-client';
import { UnreadableSecret } from '#libs/postgres';
import { textStart } from '#libs/protocol';
import { CredentialStore, CredentialUse } from './credential-store.js';
import { CREDENTIAL_NAME, type CredentialSettings, mayGoTo, type UsableCredential } from './credential.js';
import { type OAuth2Credential, OAuthTokens, TokenRefused } from './oauth-tokens.js';
import { choosePlacement, CredentialMismatch, requestAuth } from './placement.js';

type WantedCredential = Pick<SigningRequest, 'credential' | 'tenant'> & { signal?: AbortSignal };

const LONGEST_NAME = 64;

/**
 * Authenticates requests with stored credentials. The credential is read from the database again for each call, so
 * that a change affects the next call.
 */
@Injectable()
export class StoredRequestSigners extends RequestSigners {
  /**
   * Credential (for OAuth 2.0 also the access token) that created each RequestAuth. An agent's rejection of a
   * RequestAuth is charged to it.
   */
  private readonly made = new WeakMap<RequestAuth, { credential: UsableCredential; token?: string }>();

  constructor(
    private readonly store: CredentialStore,
    private readonly oauth: OAuthTokens,
    private readonly use: CredentialUse,
  ) {
    super();
  }

  async createProof(wanted: SigningRequest): Promise<RequestAuth> {
    const credential = await this.findCredential(wanted);
    return this.reportFailure(credential, async () => {
      const auth = await this.createAuth(credential, wanted, (it) => this.oauth.getToken(it));
      this.use.noteUsed(credential);
      return auth;
    });
  }

  async renewProof(wanted: SigningRequest, refused: RequestAuth): Promise<RequestAuth | undefined> {
    const token = this.made.get(refused)?.token;
    if (token === undefined) return undefined;
    const credential = await this.findCredential(wanted);
    return this.reportFailure(credential, () =>
      this.createAuth(credential, wanted, (it) => this.oauth.replaceToken(it, token)),
    );
  }

  async reachesOrigins(
    { credential: name, tenant, signal }: WantedCredential,
    origins: readonly string[],
  ): Promise<boolean> {
    if (!CREDENTIAL_NAME.test(name)) return false;
    const hasOne = ({ hosts = [] }: CredentialSettings) => origins.some((origin) => hosts.includes(origin));
    try {
      return (await this.store.findUsable({ tenant, name }, signal, hasOne)) !== undefined;
    } catch (error) {
      if (error instanceof UnreadableSecret) return false;
      throw error;
    }
  }

  reportRefusal(auth: RequestAuth, refusal: AgentCallError): void {
    const made = this.made.get(auth);
    if (made) this.use.noteFailed(made.credential, refusal.message);
  }

  private async findCredential({ credential: name, tenant, signal }: SigningRequest): Promise<UsableCredential> {
    try {
      const found = CREDENTIAL_NAME.test(name) ? await this.store.findUsable({ tenant, name }, signal) : undefined;
      if (found !== undefined) return found;
    } catch (error) {
      if (error instanceof UnreadableSecret) throw unusableCredential(name, 'it cannot be decrypted', error);
      throw error;
    }
    throw new AgentCallError('credential', `there is no credential "${textStart(name, LONGEST_NAME)}"`);
  }

  private async createAuth(
    credential: UsableCredential,
    { endpoint, agentUrl, security }: SigningRequest,
    token: (credential: OAuth2Credential) => Promise<string>,
  ): Promise<RequestAuth> {
    const { settings, secret } = credential;
    if (!mayGoTo(settings, endpoint, agentUrl))
      throw new CredentialMismatch(describeStray(endpoint, settings, agentUrl));
    const place = choosePlacement(settings, security);
    const value = isOAuth2(credential) ? await token(credential) : secret;
    const auth = requestAuth(place, settings, value, endpoint.origin);
    this.made.set(auth, { credential, ...(isOAuth2(credential) && { token: value }) });
    return auth;
  }

  /** Runs `work`. If it fails, records the failure for the credential, and rethrows it as an AgentCallError. */
  private async reportFailure<T>(credential: UsableCredential, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const failure = signingFailure(credential.name, error);
      if (failure === undefined) throw error;
      this.use.noteFailed(credential, failure.message);
      throw failure;
    }
  }
}

function describeStray({ origin }: URL, { hosts }: CredentialSettings, agentUrl: string | undefined): string {
  const where = `it is not meant for ${origin}`;
  if (hosts !== undefined) return where;
  return agentUrl === undefined ? `${where}: it names no hosts` : `${where}, where the agent's card leads`;
}

function isOAuth2(credential: UsableCredential): credential is OAuth2Credential {
  return credential.settings.kind === 'oauth2-client-credentials';
}

/**
 * Returns the error that callers see when a credential could not be used; `undefined` if `error` is an internal fault.
 * To be safe, the returned error does not have `error` as its cause, although `error` contains no secret.
 */
function signingFailure(name: string, error: unknown): AgentCallError | undefined {
  const failedAs = (kind: AgentCallFailure, reason: string): AgentCallError =>
    new AgentCallError(kind, `credential "${name}": ${reason}`, { ofCredential: true });
  if (error instanceof CredentialMismatch) return unusableCredential(name, error.message);
  if (error instanceof TokenRefused) {
    return error.temporary ? failedAs('server-error', error.message) : unusableCredential(name, error.message);
  }
  return error instanceof OutboundFault ? failedAs(...ENDPOINT_FAILURES[error.kind]) : undefined;
}

const ENDPOINT_FAILURES: Record<OutboundFault['kind'], [AgentCallFailure, string]> = {
  timeout: ['timeout', 'timeout: no answer of the token endpoint in time'],
  connect: ['connect', 'no connection to the token endpoint'],
  interrupted: ['connect', 'no connection to the token endpoint'],
  refused: ['credential', 'the token endpoint may not be called'],
  overloaded: ['overloaded', 'too many connections are in use'],
  'too-long': ['credential', "the token endpoint's answer is too long"],
};

function unusableCredential(name: string, reason: string, cause?: unknown): AgentCallError {
  return new AgentCallError('credential', `credential "${name}": ${reason}`, { cause });
}

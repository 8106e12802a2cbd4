import {
  AgentCallError,
  type RequestAuth,
  type RequestSigners,
  type SecurityScheme,
  UNUSABLE_CREDENTIAL,
} from '#libs/a2a-client';
import type { ModelProvider } from '../model-definition.js';

/**
 * Authenticates calls to a model at its provider. Implementations:
 * - KeySigner uses the key of the operator.
 * - CredentialSigner uses one stored credential.
 * - FirstUsableSigner uses one of several stored credentials.
 */
export interface ModelSigner {
  /**
   * Returns the headers and secrets to send; `undefined`: none are sent.
   * @throws AgentCallError if no credential is usable; nothing may be sent then
   */
  createAuth(endpoint: URL, signal: AbortSignal): Promise<RequestAuth | undefined>;
  /** Returns a renewed credential after HTTP 401; `undefined` if it cannot be renewed. */
  renewAuth(endpoint: URL, refused: RequestAuth, signal: AbortSignal): Promise<RequestAuth | undefined>;
  /** Records that the provider refused the credential, also after a renewal. */
  noteRefusal(auth: RequestAuth, message: string): void;
}

/** Signs with the operator's key; without a key, calls carry no credential. */
export class KeySigner implements ModelSigner {
  constructor(private readonly key: string | undefined) {}

  async createAuth({ origin }: URL): Promise<RequestAuth | undefined> {
    if (this.key === undefined) return undefined;
    return { origin, headers: { authorization: `Bearer ${this.key}` }, query: {}, secrets: [this.key] };
  }

  async renewAuth(): Promise<undefined> {
    return undefined;
  }

  noteRefusal(): void {
    // The operator sees the refusal in the error of the call.
  }
}

/**
 * Security schemes by which a provider accepts stored credentials, for providers that expect a key in a header of their
 * own. For other providers, the type of the credential decides how it is sent.
 */
const SCHEMES: Partial<Record<ModelProvider, Readonly<Record<string, SecurityScheme>>>> = {
  anthropic: {
    key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
    token: { type: 'http', scheme: 'bearer' },
  },
  google: {
    key: { type: 'apiKey', in: 'header', name: 'x-goog-api-key' },
    token: { type: 'http', scheme: 'bearer' },
  },
};

/**
 * Signs with a stored credential. The credential is sent only to the endpoint at `agentUrl` and to the hosts that the
 * credential names; without `agentUrl`, only to those hosts.
 */
export class CredentialSigner implements ModelSigner {
  constructor(
    private readonly signers: RequestSigners,
    private readonly named: { credential: string; tenant: string; agentUrl: string | undefined },
    private readonly provider: ModelProvider,
  ) {}

  createAuth(endpoint: URL, signal: AbortSignal): Promise<RequestAuth> {
    return this.signers.createProof({ ...this.named, ...this.security, endpoint, signal });
  }

  renewAuth(endpoint: URL, refused: RequestAuth, signal: AbortSignal): Promise<RequestAuth | undefined> {
    return this.signers.renewProof({ ...this.named, ...this.security, endpoint, signal }, refused);
  }

  noteRefusal(auth: RequestAuth, message: string): void {
    this.signers.reportRefusal(auth, new AgentCallError('unauthorized', message));
  }

  private get security(): { security?: { schemes: Map<string, SecurityScheme>; requirements: string[][] } } {
    const known = SCHEMES[this.provider];
    if (known === undefined) return {};
    const schemes = new Map(Object.entries(known));
    return { security: { schemes, requirements: [...schemes.keys()].map((name) => [name]) } };
  }
}

/** Names of stored credentials, in order of preference. */
interface CredentialCandidates {
  tenant: string;
  credentials: readonly string[];
}

/**
 * Signs with the first of several stored credentials whose hosts include the endpoint. If that credential cannot sign,
 * the call fails; the next credential is not tried.
 */
export class FirstUsableSigner implements ModelSigner {
  private readonly makers = new WeakMap<RequestAuth, ModelSigner>();

  constructor(
    private readonly signers: RequestSigners,
    private readonly named: CredentialCandidates,
    private readonly provider: ModelProvider,
  ) {}

  /**
   * Signs with the first credential whose hosts include the endpoint.
   * @throws AgentCallError `credential` if no credential may be sent to the endpoint; the message does not say why
   */
  async createAuth(endpoint: URL, signal: AbortSignal): Promise<RequestAuth | undefined> {
    const { credentials, tenant } = this.named;
    for (const credential of credentials) {
      if (!(await this.signers.reachesOrigins({ credential, tenant, signal }, [endpoint.origin]))) continue;
      const signer = new CredentialSigner(this.signers, { credential, tenant, agentUrl: undefined }, this.provider);
      return this.rememberMaker(await signer.createAuth(endpoint, signal), signer);
    }
    throw new AgentCallError('credential', `"${credentials.join('", "')}" ${UNUSABLE_CREDENTIAL}`);
  }

  async renewAuth(endpoint: URL, refused: RequestAuth, signal: AbortSignal): Promise<RequestAuth | undefined> {
    const maker = this.makers.get(refused);
    return maker && this.rememberMaker(await maker.renewAuth(endpoint, refused, signal), maker);
  }

  noteRefusal(auth: RequestAuth, message: string): void {
    this.makers.get(auth)?.noteRefusal(auth, message);
  }

  private rememberMaker(auth: RequestAuth | undefined, maker: ModelSigner): RequestAuth | undefined {
    if (auth) this.makers.set(auth, maker);
    return auth;
  }
}

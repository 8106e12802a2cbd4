import {
  AgentCallError,
  type RequestAuth,
  type RequestSigners,
  type SecurityScheme,
  UNUSABLE_CREDENTIAL,
} from '#libs/a2a-client';
import type { ModelProvider } from './model-settings.js';

/** Proves to a provider who calls. */
export interface ModelSigner {
  /** @throws AgentCallError where there is none; then nothing may be sent */
  auth(endpoint: URL, signal: AbortSignal): Promise<RequestAuth | undefined>;
  /** Another one in place of one that was answered with 401; `undefined` where there can be no other. */
  renewed(endpoint: URL, refused: RequestAuth, signal: AbortSignal): Promise<RequestAuth | undefined>;
  /** Takes note that a provider refused it for good. */
  refused(auth: RequestAuth, message: string): void;
}

/** The operator's key. */
export class KeySigner implements ModelSigner {
  constructor(private readonly key: string | undefined) {}

  async auth({ origin }: URL): Promise<RequestAuth | undefined> {
    if (this.key === undefined) return undefined;
    return { origin, headers: { authorization: `Bearer ${this.key}` }, query: {}, secrets: [this.key] };
  }

  async renewed(): Promise<undefined> {
    return undefined;
  }

  refused(): void {
    // Whoever runs the service reads it in the error of the call.
  }
}

/** How a provider wants to be told who calls; others are told as the credential itself says. */
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
 * A stored credential. It goes to where the model is said to be, or to its own hosts; without `agentUrl` to its own hosts
 * alone.
 */
export class CredentialSigner implements ModelSigner {
  constructor(
    private readonly signers: RequestSigners,
    private readonly named: { credential: string; tenant: string; agentUrl: string | undefined },
    private readonly provider: ModelProvider,
  ) {}

  auth(endpoint: URL, signal: AbortSignal): Promise<RequestAuth> {
    return this.signers.auth({ ...this.named, ...this.security, endpoint, signal });
  }

  renewed(endpoint: URL, refused: RequestAuth, signal: AbortSignal): Promise<RequestAuth | undefined> {
    return this.signers.renewed({ ...this.named, ...this.security, endpoint, signal }, refused);
  }

  refused(auth: RequestAuth, message: string): void {
    this.signers.failed(auth, new AgentCallError('unauthorized', message));
  }

  private get security(): { security?: { schemes: Map<string, SecurityScheme>; requirements: string[][] } } {
    const known = SCHEMES[this.provider];
    if (known === undefined) return {};
    const schemes = new Map(Object.entries(known));
    return { security: { schemes, requirements: [...schemes.keys()].map((name) => [name]) } };
  }
}

/** Names of credentials, of which the first that may go to an endpoint proves who calls there. */
interface NamedCredentials {
  tenant: string;
  credentials: readonly string[];
}

/**
 * The first of several stored credentials whose hosts have the endpoint. One that may go there and gives no proof has no
 * successor.
 */
export class FirstUsableSigner implements ModelSigner {
  private readonly makers = new WeakMap<RequestAuth, ModelSigner>();

  constructor(
    private readonly signers: RequestSigners,
    private readonly named: NamedCredentials,
    private readonly provider: ModelProvider,
  ) {}

  /** @throws AgentCallError `credential`, in the same words whatever is wrong, where none of them may go there */
  async auth(endpoint: URL, signal: AbortSignal): Promise<RequestAuth | undefined> {
    const { credentials, tenant } = this.named;
    for (const credential of credentials) {
      if (!(await this.signers.reaches({ credential, tenant, signal }, [endpoint.origin]))) continue;
      const signer = new CredentialSigner(this.signers, { credential, tenant, agentUrl: undefined }, this.provider);
      return this.made(await signer.auth(endpoint, signal), signer);
    }
    throw new AgentCallError('credential', `"${credentials.join('", "')}" ${UNUSABLE_CREDENTIAL}`);
  }

  async renewed(endpoint: URL, refused: RequestAuth, signal: AbortSignal): Promise<RequestAuth | undefined> {
    const maker = this.makers.get(refused);
    return maker && this.made(await maker.renewed(endpoint, refused, signal), maker);
  }

  refused(auth: RequestAuth, message: string): void {
    this.makers.get(auth)?.refused(auth, message);
  }

  private made(auth: RequestAuth | undefined, maker: ModelSigner): RequestAuth | undefined {
    if (auth) this.makers.set(auth, maker);
    return auth;
  }
}

import { AgentCallError } from './agent-call-error.js';
import type { RequiredSecurity } from './card-security.js';

/** Proof of the caller that a request carries. It is sent to one origin and never along a redirect. */
export interface RequestAuth {
  /** Origin that it may be sent to, and no other. */
  readonly origin: string;
  /** Headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Query parameters to add to the URL. */
  readonly query: Readonly<Record<string, string>>;
  /** All forms of its secrets, which are removed from an agent's errors. */
  readonly secrets: readonly string[];
}

/** Call to sign. */
export interface SigningRequest {
  /** Name of the credential. */
  credential: string;
  /** Tenant that owns the credential. */
  tenant: string;
  /**
   * Agent URL named by whoever controls where the credential goes; `undefined` if only the credential itself limits
   * that.
   */
  agentUrl: string | undefined;
  /** Target of the call: the URL in the agent's card, or `agentUrl`. */
  endpoint: URL;
  /** Authentication that the agent's card requires; `undefined` without a card. */
  security?: RequiredSecurity;
  /** Signal that aborts when the proof is no longer needed. */
  signal: AbortSignal;
}

/**
 * Error text for any unusable credential. It is the same for all reasons, so that callers cannot find out which
 * credentials exist.
 */
export const UNUSABLE_CREDENTIAL = 'is not a credential that this agent can use';

/** Creates the proofs of calls with a named credential. */
export abstract class RequestSigners {
  /**
   * Creates a proof.
   * @throws AgentCallError `credential` if none fits; then nothing may be sent. If a token could not be obtained for
   * the moment, the kind says so, such as `timeout`
   */
  abstract createProof(wanted: SigningRequest): Promise<RequestAuth>;

  /**
   * Creates a new proof after an agent answered 401; `undefined` if there can be no other.
   * @throws the same errors as for the first proof
   */
  abstract renewProof(wanted: SigningRequest, refused: RequestAuth): Promise<RequestAuth | undefined>;

  /**
   * True if a credential has its own hosts and one of the origins is among them. Reads the current credential and sends
   * nothing; false also for an unknown name or a credential that no key opens. Opens no secret of a credential that
   * does not match, so the duration does not reveal whether it exists.
   * @param wanted without a signal an unreachable database is not waited for
   */
  abstract reachesOrigins(
    wanted: Pick<SigningRequest, 'credential' | 'tenant'> & { signal?: AbortSignal },
    origins: readonly string[],
  ): Promise<boolean>;

  /** Notes that a call finally failed with 401 or 403. */
  abstract reportRefusal(auth: RequestAuth, refusal: AgentCallError): void;
}

/** Call with its proof. */
interface SignedCall {
  url: URL;
  headers: Record<string, string>;
  redirect: 'error';
}

/** Adds a proof to a call. @throws AgentCallError `credential` if the call's origin is not the proof's */
export function applyProof(auth: RequestAuth, url: URL, headers: Readonly<Record<string, string>>): SignedCall {
  if (url.origin !== auth.origin) throw new AgentCallError('credential', `a credential is not sent to ${url.origin}`);
  const target = new URL(url);
  for (const [name, value] of Object.entries(auth.query)) target.searchParams.set(name, value);
  return { url: target, headers: { ...headers, ...auth.headers }, redirect: 'error' };
}

import { AgentCallError } from './agent-call-error.js';
import type { CardSecurity } from './card-security.js';

/** What a request carries to prove who calls. It is sent to one origin and never along a redirect. */
export interface RequestAuth {
  /** The only origin that it may be sent to. */
  readonly origin: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parameters of the URL. */
  readonly query: Readonly<Record<string, string>>;
  /** Every form of the secrets in it: they are taken out of what an agent says in an error. */
  readonly secrets: readonly string[];
}

/** The call that is to be signed. */
export interface SigningRequest {
  /** The name of the credential. */
  credential: string;
  /** Whose credential it is. */
  tenant: string;
  /** The agent as it was named by whoever decides where the credential goes; `undefined` where nobody but itself does. */
  agentUrl: string | undefined;
  /** Where the call goes: what the agent's card says, or `agentUrl`. */
  endpoint: URL;
  /** What the agent's card asks for; `undefined` where it has none. */
  security?: CardSecurity;
  /** Aborts when the call has no more use for it. */
  signal: AbortSignal;
}

/** Why a credential is refused, whatever is wrong with it: nobody shall learn from it which credentials there are. */
export const UNUSABLE_CREDENTIAL = 'is not a credential that this agent can use';

/** Gives the proofs that calls with a named credential carry. */
export abstract class RequestSigners {
  /**
   * @throws AgentCallError `credential` where there is none that fits; then nothing may be sent. Where a token could not
   * be had for the moment it is of the kind that says so, such as `timeout`.
   */
  abstract auth(wanted: SigningRequest): Promise<RequestAuth>;

  /**
   * Another proof in place of one that an agent answered 401 to; `undefined` where there can be no other.
   * @throws as `auth` does
   */
  abstract renewed(wanted: SigningRequest, refused: RequestAuth): Promise<RequestAuth | undefined>;

  /**
   * True if a credential has hosts of its own and one of the origins is among them. Reads the credential anew and sends
   * nothing; false also where there is none of the name, or no key opens it. Opens no secret of a credential that does not
   * reach: a missing one is as quick.
   * @param wanted without a signal a database that is out of reach is not waited for
   */
  abstract reaches(
    wanted: Pick<SigningRequest, 'credential' | 'tenant'> & { signal?: AbortSignal },
    origins: readonly string[],
  ): Promise<boolean>;

  /** Takes note that a call failed for good with 401 or 403. */
  abstract failed(auth: RequestAuth, refusal: AgentCallError): void;
}

/** A call as it goes out. */
interface SignedCall {
  url: URL;
  headers: Record<string, string>;
  redirect: 'error';
}

/** Puts a proof into a call. @throws AgentCallError `credential` where the call goes anywhere but to the proof's origin */
export function sign(auth: RequestAuth, url: URL, headers: Readonly<Record<string, string>>): SignedCall {
  if (url.origin !== auth.origin) throw new AgentCallError('credential', `a credential is not sent to ${url.origin}`);
  const target = new URL(url);
  for (const [name, value] of Object.entries(auth.query)) target.searchParams.set(name, value);
  return { url: target, headers: { ...headers, ...auth.headers }, redirect: 'error' };
}

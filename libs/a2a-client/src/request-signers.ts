import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { AgentCallError } from './agent-call-error.js';

/** Authentication scheme of a card, with the members that clients need (A2A 1.0, section 4.5.2; 0.3, section 5.5.2). */
export type SecurityScheme =
  | { type: 'apiKey'; in: 'header' | 'query' | 'cookie'; name: string }
  /** `scheme` is in lower case: `bearer`, `basic`. */
  | { type: 'http'; scheme: string }
  | { type: 'oauth2'; clientCredentials: boolean }
  | { type: 'openIdConnect' }
  | { type: 'mutualTLS' }
  | { type: 'unknown' };

/**
 * Maximum length of each list that clients keep of a card: its schemes, its requirements, and the schemes of one
 * requirement.
 */
const MOST = 100;
const LONGEST_NAME = 256;
/** Name of a scheme that never exists, so a requirement that names it cannot be met. */
const UNMET = '';

/** Authentication that an agent requires. */
export interface RequiredSecurity {
  schemes: ReadonlyMap<string, SecurityScheme>;
  /** Alternatives, each a list of scheme names that are all needed. An empty list requires nothing. */
  requirements: readonly (readonly string[])[];
}

const KEPT = new WeakMap<object, RequiredSecurity>();

/**
 * Remembers the authentication that a card's JSON requires, for `securityOf`, and returns the card. The card alone is
 * not enough: if a card of 1.0 states its authentication in the form of 0.3, the SDK's card object does not contain it.
 */
export function keepSecurity<T extends object>(card: T, json: JsonObject): T {
  KEPT.set(card, cardSecurity(json));
  return card;
}

/** Returns the authentication that `keepSecurity` has remembered for a card; `undefined` if it has remembered none. */
export function securityOf(card: object): RequiredSecurity | undefined {
  return KEPT.get(card);
}

/**
 * Reads the authentication that a card requires, in the form of 1.0 or 0.3. Unreadable parts become a scheme that
 * cannot be met.
 */
export function cardSecurity(card: JsonObject): RequiredSecurity {
  const schemes = objectIn(card, 'securitySchemes', 'security_schemes');
  const requirements = listIn(card, 'securityRequirements') ?? listIn(card, 'security_requirements');
  const named = Object.entries(schemes).filter(([name]) => isName(name));
  return {
    schemes: new Map(named.slice(0, MOST).map(([name, scheme]) => [name, readScheme(scheme)])),
    requirements: (requirements ?? listIn(card, 'security') ?? []).slice(0, MOST).map(readRequirement),
  };
}

function readScheme(scheme: JsonValue | undefined): SecurityScheme {
  if (!isJsonObject(scheme)) return { type: 'unknown' };
  return typeof scheme.type === 'string' ? readScheme03(scheme) : readScheme10(scheme);
}

function readScheme03(scheme: JsonObject): SecurityScheme {
  switch (scheme.type) {
    case 'apiKey':
      return readApiKey(scheme.in, scheme.name);
    case 'http':
      return readHttp(scheme.scheme);
    case 'oauth2':
      return { type: 'oauth2', clientCredentials: isJsonObject(objectIn(scheme, 'flows').clientCredentials) };
    case 'openIdConnect':
    case 'mutualTLS':
      return { type: scheme.type };
    default:
      return { type: 'unknown' };
  }
}

function readScheme10(scheme: JsonObject): SecurityScheme {
  const [kind, value] = readOneof(scheme, 'scheme');
  switch (kind) {
    case 'apiKeySecurityScheme':
      return readApiKey(value.location, value.name);
    case 'httpAuthSecurityScheme':
      return readHttp(value.scheme);
    case 'oauth2SecurityScheme': {
      const flows = objectIn(value, 'flows');
      const [flow] = readOneof(flows, 'flow');
      return {
        type: 'oauth2',
        clientCredentials: flow === 'clientCredentials' || isJsonObject(flows.clientCredentials),
      };
    }
    case 'openIdConnectSecurityScheme':
      return { type: 'openIdConnect' };
    case 'mtlsSecurityScheme':
      return { type: 'mutualTLS' };
    default:
      return { type: 'unknown' };
  }
}

/**
 * Returns the name and the value of the member that is set in a protobuf `oneof`. Accepts ProtoJSON, and the internal
 * form that the JavaScript SDK's server (1.3) writes instead. The name is `''` if no member is set.
 * @param oneof name of the `oneof`
 */
function readOneof(object: JsonObject, oneof: string): [name: string, value: JsonObject] {
  const own = object[oneof];
  const [name, value] =
    isJsonObject(own) && typeof own.$case === 'string' ? [own.$case, own.value] : (Object.entries(object)[0] ?? ['']);
  return [name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), isJsonObject(value) ? value : {}];
}

function readApiKey(place: JsonValue | undefined, name: JsonValue | undefined): SecurityScheme {
  const known = (['header', 'query', 'cookie'] as const).find((it) => it === place);
  return known !== undefined && isName(name) ? { type: 'apiKey', in: known, name } : { type: 'unknown' };
}

function readHttp(scheme: JsonValue | undefined): SecurityScheme {
  return isName(scheme) ? { type: 'http', scheme: scheme.toLowerCase() } : { type: 'unknown' };
}

/** Reads a requirement: `{"schemes": {"name": …}}` in 1.0, `{"name": […]}` in 0.3. */
function readRequirement(requirement: JsonValue): string[] {
  if (!isJsonObject(requirement)) return [UNMET];
  const { schemes } = requirement;
  const names = Object.keys(isJsonObject(schemes) ? schemes : requirement);
  return names.length <= MOST && names.every(isName) ? names : [UNMET];
}

function isName(name: JsonValue | undefined): name is string {
  return typeof name === 'string' && name.length <= LONGEST_NAME;
}

function objectIn(object: JsonObject, ...names: string[]): JsonObject {
  return names.map((name) => object[name]).find((it) => isJsonObject(it)) ?? {};
}

function listIn(object: JsonObject, name: string): JsonValue[] | undefined {
  const value = object[name];
  return Array.isArray(value) && value.length > 0 ? value : undefined;
}

/** Headers and query parameters that prove the caller's identity, for one origin and never along a redirect. */
export interface RequestAuth {
  /** The only origin that may receive the headers and parameters. */
  readonly origin: string;
  /** Headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Query parameters to add to the URL. */
  readonly query: Readonly<Record<string, string>>;
  /** Secrets in the headers and parameters, in all their encodings. They are removed from an agent's error texts. */
  readonly secrets: readonly string[];
}

/** Description of a call that is to be authenticated. */
export interface SigningRequest {
  /** Name of the credential that signs the requests. */
  credential: string;
  /** Tenant that owns the credential. */
  tenant: string;
  /**
   * Agent URL, if its source is trusted to decide where the credential goes; `undefined` if only the hosts of the
   * credential decide that.
   */
  agentUrl: string | undefined;
  /** Target of the call: the URL in the agent's card, or `agentUrl`. */
  endpoint: URL;
  /** Authentication that the agent's card requires; `undefined` without a card. */
  security?: RequiredSecurity;
  /** Signal that aborts when the call no longer needs its authentication. */
  signal: AbortSignal;
}

/**
 * Error text for any unusable credential. It is the same for all reasons, so that callers cannot find out which
 * credentials exist.
 */
export const UNUSABLE_CREDENTIAL = 'is not a credential that this agent can use';

/** Creates RequestAuth values, which authenticate calls with a named credential. */
export abstract class RequestSigners {
  /**
   * Creates the RequestAuth of a call.
   * @throws AgentCallError `credential` if the credential does not fit the call; then nothing may be sent. If a token
   *   cannot be obtained at the moment, the kind names the reason, such as `timeout`
   */
  abstract createProof(wanted: SigningRequest): Promise<RequestAuth>;

  /**
   * Creates another RequestAuth after an agent answered 401 to `refused`; `undefined` if that is not possible.
   * @throws the same errors as `createProof`
   */
  abstract renewProof(wanted: SigningRequest, refused: RequestAuth): Promise<RequestAuth | undefined>;

  /**
   * True if a credential lists hosts and one of the origins is among them. False also for an unknown name, and for a
   * credential that cannot be decrypted. Reads the current credential and sends nothing. Decrypts no secret of a
   * credential that does not match, so that the duration does not reveal whether the credential exists.
   * @param wanted its `signal` ends the wait for an unreachable database; without a signal, this method rejects at once
   *   then
   */
  abstract reachesOrigins(
    wanted: Pick<SigningRequest, 'credential' | 'tenant'> & { signal?: AbortSignal },
    origins: readonly string[],
  ): Promise<boolean>;

  /**
   * Reports that a call with this RequestAuth failed with 401 or 403 and is not repeated. The implementation records
   * the failure as the last error of the credential.
   */
  abstract reportRefusal(auth: RequestAuth, refusal: AgentCallError): void;
}

/** URL, headers and redirect mode of an authenticated call. */
interface SignedCall {
  url: URL;
  headers: Record<string, string>;
  redirect: 'error';
}

/** Adds a RequestAuth to a call. @throws AgentCallError `credential` if the call goes to another origin */
export function applyProof(auth: RequestAuth, url: URL, headers: Readonly<Record<string, string>>): SignedCall {
  if (url.origin !== auth.origin) throw new AgentCallError('credential', `a credential is not sent to ${url.origin}`);
  const target = new URL(url);
  for (const [name, value] of Object.entries(auth.query)) target.searchParams.set(name, value);
  return { url: target, headers: { ...headers, ...auth.headers }, redirect: 'error' };
}

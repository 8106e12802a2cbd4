/** Verified push notification. */
export interface VerifiedWebhook {
  /** Id of the notification. A retried delivery has the same id. */
  id: string;
  /** A2A StreamResponse of the notification. */
  body: unknown;
}

/**
 * Request with its body as bytes, as servers of Node have it: before any parser, since the signature is over the bytes.
 */
export interface ReceivedWebhook {
  /** Headers by their names in lower case, as in `request.headers` of Node, Express and Fastify. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array | string;
}

export interface WebhookOptions {
  /**
   * URL of the service's public keys: `https://parley.example/.well-known/jwks.json`. Take it from your configuration,
   * never from a request.
   */
  jwksUrl: string;
  /** URL of the webhook, exactly as in the push notification config; the URL of a web Request unless set. */
  receiverUrl?: string;
  /** Maximum age of the signature in seconds; default 300. */
  maxAgeSeconds?: number;
  /** Replacement for the global `fetch`, to load the keys; by default the global one. */
  fetch?: typeof fetch;
}

/** `typ` of a notification's signature. The same key signs public agent cards, whose `typ` differs. */
const TYPE = 'parley-notification+jws';
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };
/** Milliseconds that loaded keys are cached. */
const KEYS_KEPT_MS = 300_000;

/** Public key on the curve P-256 (RFC 7517). */
interface NamedKey {
  kid?: string;
  kty: 'EC';
  crv: string;
  x: string;
  y: string;
}

type VerifyKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const known = new Map<string, { keys: readonly NamedKey[]; until: number }>();

/**
 * Verifies that the service sent a request (push notification) to this webhook, and returns its contents.
 * @param request web Request, or the headers and the bytes of a request
 * @throws Error with the reason why the request is not genuine
 */
export async function verifyWebhook(
  request: Request | ReceivedWebhook,
  options: WebhookOptions,
): Promise<VerifiedWebhook> {
  const { content, header: readHeader, url } = await readRequest(request);
  const header = readHeader('x-a2a-notification-signature') ?? '';
  const [head = '', empty, signature = ''] = header.split('.');
  if (head === '' || empty !== '' || signature === '') throw new Error('The notification is not signed');
  const claims = JSON.parse(new TextDecoder().decode(fromBase64Url(head))) as Record<string, unknown>;
  const key = await loadVerifyKey(claims['kid'], options);
  const signed = new TextEncoder().encode(`${head}.${toBase64Url(content)}`);
  const genuine =
    claims['alg'] === 'ES256' &&
    (await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, fromBase64Url(signature), signed));
  if (!genuine) throw new Error('The signature does not fit');
  const id = checkClaims(claims, readHeader('x-a2a-notification-id'), options, url);
  return { id, body: JSON.parse(new TextDecoder().decode(content)) as unknown };
}

/** Request in the form in which it is verified. */
interface ReadRequest {
  content: Uint8Array<ArrayBuffer>;
  header: (name: string) => string | undefined;
  /** URL of a web Request; absent for a request of a server of Node, which knows only its path. */
  url?: string;
}

async function readRequest(request: Request | ReceivedWebhook): Promise<ReadRequest> {
  const { headers, body } = request;
  if (isWebHeaders(headers)) {
    const { url } = request as Request;
    const content = new Uint8Array(await (request as Request).arrayBuffer());
    return { content, header: (name) => headers.get(name) ?? undefined, url };
  }
  const content = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body as Uint8Array);
  return { content, header: (name) => [headers[name]].flat()[0] };
}

/** True for the headers of a web Request, also of another implementation than the global one. */
function isWebHeaders(headers: Headers | ReceivedWebhook['headers']): headers is Headers {
  return typeof headers.get === 'function';
}

function checkClaims(
  { typ, aud, jti, iat, exp }: Record<string, unknown>,
  id: string | undefined,
  { receiverUrl, maxAgeSeconds = 300 }: WebhookOptions,
  requested: string | undefined,
): string {
  if (typ !== TYPE) throw new Error('The signature is not one of a notification');
  const receiver = receiverUrl ?? requested;
  if (receiver === undefined) throw new Error('receiverUrl is missing: the request does not name its URL');
  if (aud !== receiver) throw new Error('The notification is for another receiver');
  if (typeof jti !== 'string' || jti === '') throw new Error('The signature names no notification');
  if (jti !== id) throw new Error('The id is another one');
  if (typeof iat !== 'number' || typeof exp !== 'number') throw new Error('The signature has no time');
  const now = Date.now() / 1000;
  if (now > exp || Math.abs(now - iat) > maxAgeSeconds) throw new Error('The signature is too old');
  return jti;
}

/**
 * Returns the public key with an id (`kid`). If the id is not cached, the keys are loaded again.
 * @throws Error if the service has no such key, or its keys cannot be loaded
 */
async function loadVerifyKey(kid: unknown, { jwksUrl, fetch: call = fetch }: WebhookOptions): Promise<VerifyKey> {
  const kept = known.get(jwksUrl);
  const found = kept && kept.until > Date.now() ? findKey(kept.keys, kid) : undefined;
  const key = found ?? findKey(await fetchKeys(jwksUrl, call), kid);
  if (!key) throw new Error('The service has no such key');
  return crypto.subtle.importKey('jwk', key, ALGORITHM, false, ['verify']);
}

async function fetchKeys(url: string, call: typeof fetch): Promise<readonly NamedKey[]> {
  const response = await call(url);
  if (!response.ok) throw new Error(`The keys at ${url} cannot be read: ${response.status}`);
  const { keys } = (await response.json()) as { keys: NamedKey[] };
  known.set(url, { keys, until: Date.now() + KEYS_KEPT_MS });
  return keys;
}

function findKey(keys: readonly NamedKey[], kid: unknown): NamedKey | undefined {
  return keys.find((key) => key.kid === kid);
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}

function toBase64Url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

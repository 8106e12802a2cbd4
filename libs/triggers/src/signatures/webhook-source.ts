/**
 * Schemes by which senders prove a delivery:
 * - `github`: `X-Hub-Signature-256`, an HMAC of the body.
 * - `stripe`: `Stripe-Signature`, an HMAC of a time and the body.
 * - `slack`: `X-Slack-Signature`, an HMAC of a time and the body.
 * - `standard-webhooks`: `webhook-signature`, an HMAC of an id, a time and the body.
 * - `hmac`: an HMAC of the body in a header that the trigger names.
 * - `bearer`: the secret itself, as a bearer token or in a header that the trigger names.
 */
export const WEBHOOK_SCHEMES = ['github', 'stripe', 'slack', 'standard-webhooks', 'hmac', 'bearer'] as const;
export type WebhookScheme = (typeof WEBHOOK_SCHEMES)[number];

export const HMAC_ALGORITHMS = ['sha1', 'sha256', 'sha384', 'sha512'] as const;
export type HmacAlgorithm = (typeof HMAC_ALGORITHMS)[number];

export const HMAC_ENCODINGS = ['hex', 'base64'] as const;
export type HmacEncoding = (typeof HMAC_ENCODINGS)[number];

/** Settings of a trigger that deliveries of a sender fire. */
export interface WebhookSource {
  scheme: WebhookScheme;
  /** Names of one or two credentials. A delivery is accepted with the secret of either, so secrets can be replaced. */
  secrets: string[];
  /** Name of the header with the signature (`hmac`) or the token (`bearer`). */
  header?: string;
  /** Hash algorithm of the signature scheme `hmac`. */
  algorithm?: HmacAlgorithm;
  /** Encoding of the signature of `hmac`. */
  encoding?: HmacEncoding;
  /** Text before the signature of `hmac`, such as `sha256=`. */
  prefix?: string;
  /** Name of the header with the id of a delivery (`hmac`, `bearer`). */
  idHeader?: string;
}

/** Header with the signature of a scheme that defines it, in lower case. */
const SIGNATURE_HEADERS: Readonly<Partial<Record<WebhookScheme, string>>> = {
  github: 'x-hub-signature-256',
  stripe: 'stripe-signature',
  slack: 'x-slack-signature',
  'standard-webhooks': 'webhook-signature',
};

/** Returns the name of the header that proves a delivery, in lower case. */
export function proofHeader({ scheme, header }: WebhookSource): string {
  return SIGNATURE_HEADERS[scheme] ?? header?.toLowerCase() ?? 'authorization';
}

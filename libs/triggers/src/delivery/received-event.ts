import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { hasMoreMembers, malformedRequest, refuseUnfitJson, tooManyMembers } from '#libs/http-server';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { headerText } from '../signatures/delivery-signature.js';
import { proofHeader, type WebhookSource } from '../signatures/webhook-source.js';

/** Event that fires a trigger, as its expressions read it: the variables by name. */
export type TriggerEvent = JsonObject;

/** Headers that expressions never see: they prove who sent the delivery, or lead to its sender. */
const HIDDEN = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-api-key']);
/** Maximum number of parameters of the query, and fields of a form, that expressions see. */
const MOST_FIELDS = 200;
const FORM = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i;
const JSON_TYPE = /^\s*application\/([\w.+-]{0,100}\+)?json\s*(;|$)/i;
const ID = /^[\x21-\x7e]{1,200}$/;

/** Delivery whose signature is right. */
export interface ProvenDelivery {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Query of the address, without the question mark. */
  query: string;
}

/**
 * Reads a delivery as the variables of expressions:
 * - `body`: JSON; the fields of a form by name; or a text. An empty body is `null`.
 * - `headers`: by name in lower case, without those that hold secrets.
 * - `query`: the parameters of the address by name.
 * @param mostMembers maximum number of members and elements of a JSON body
 * @throws ProblemError 400 for a body that is not what its type says
 */
export function readEvent(source: WebhookSource, delivery: ProvenDelivery, mostMembers: number): TriggerEvent {
  const hidden = new Set([...HIDDEN, proofHeader(source)]);
  const headers = Object.entries(delivery.headers).filter(([name, value]) => value !== undefined && !hidden.has(name));
  return {
    body: parseBody(delivery, mostMembers),
    headers: Object.fromEntries(headers.map(([name, value]) => [name, [value].flat().join(', ')])),
    query: readFields(delivery.query),
  };
}

function parseBody({ headers, body }: ProvenDelivery, mostMembers: number): JsonValue {
  if (body.length === 0) return null;
  const type = headers['content-type'] ?? '';
  const text = body.toString();
  if (FORM.test(type)) return readFields(text);
  if (hasMoreMembers(text, mostMembers)) throw malformedBody(`the body ${tooManyMembers(mostMembers)}`);
  try {
    const value = JSON.parse(text) as JsonValue;
    refuseUnfitJson(value);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError && !JSON_TYPE.test(type)) return text;
    throw error instanceof SyntaxError ? malformedBody('the body is not valid JSON') : error;
  }
}

/** Reads fields of a form or a query. Of several fields with one name the first counts. */
function readFields(text: string): JsonObject {
  const fields: JsonObject = Object.create(null) as JsonObject;
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    if (++count > MOST_FIELDS) throw malformedBody(`at most ${MOST_FIELDS} fields are read`);
    fields[name] ??= value;
  }
  return { ...fields };
}

function malformedBody(detail: string): Error {
  return malformedRequest({ path: '', detail });
}

/**
 * Returns the id of a delivery, which its sender repeats with each attempt. Without an id of the sender it is made of
 * the content: the digest of the body, of the time that was signed with it, and with a bearer token of the query.
 */
export function deliveryIdOf(source: WebhookSource, delivery: ProvenDelivery, event: TriggerEvent): string {
  const { headers, body, query } = delivery;
  const sent = sentId(source, headers, event['body']);
  if (typeof sent === 'string' && ID.test(sent)) return sent;
  const time = source.scheme === 'slack' ? (headerText(headers, 'x-slack-request-timestamp') ?? '') : '';
  // No signature covers the query, so a captured delivery with another query would be a new one.
  const proven = source.scheme === 'bearer' ? query : '';
  return `sha256:${createHash('sha256').update(`${time}.${proven}\n`).update(body).digest('hex')}`;
}

function sentId(
  { scheme, idHeader }: WebhookSource,
  headers: IncomingHttpHeaders,
  body: JsonValue | undefined,
): JsonValue | undefined {
  switch (scheme) {
    case 'github':
      return headerText(headers, 'x-github-delivery');
    case 'standard-webhooks':
      return headerText(headers, 'webhook-id');
    case 'stripe':
      return isJsonObject(body) ? body['id'] : undefined;
    case 'slack':
      return isJsonObject(body) ? body['event_id'] : undefined;
    case 'hmac':
    case 'bearer':
      return idHeader === undefined ? undefined : headerText(headers, idHeader.toLowerCase());
  }
}

/**
 * Returns the challenge of a request by which Slack checks that a webhook belongs to its owner (`url_verification`);
 * `undefined` for any other delivery.
 */
export function challengeOf({ scheme }: WebhookSource, { body }: TriggerEvent): string | undefined {
  if (scheme !== 'slack' || !isJsonObject(body) || body['type'] !== 'url_verification') return undefined;
  return typeof body['challenge'] === 'string' ? body['challenge'] : undefined;
}

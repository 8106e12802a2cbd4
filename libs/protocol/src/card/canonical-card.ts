import * as sdk from '@a2a-js/sdk';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';

/** A message of the specification: the value of each REQUIRED field where it is not set, and the messages below it. */
interface Shape {
  required?: Readonly<Record<string, () => JsonValue>>;
  members?: Readonly<Record<string, Shape>>;
  /** A map or a list: each of its entries is of this shape. */
  each?: Shape;
}

const text = (): JsonValue => '';
const list = (): JsonValue => [];
const empty = (): JsonValue => ({});

const AUTHORIZATION_CODE: Shape = { required: { authorizationUrl: text, tokenUrl: text, scopes: empty } };
const CLIENT_CREDENTIALS: Shape = { required: { tokenUrl: text, scopes: empty } };
const DEVICE_CODE: Shape = { required: { deviceAuthorizationUrl: text, tokenUrl: text, scopes: empty } };
const FLOWS: Shape = {
  members: {
    authorizationCode: AUTHORIZATION_CODE,
    clientCredentials: CLIENT_CREDENTIALS,
    deviceCode: DEVICE_CODE,
  },
};
const SECURITY_SCHEME: Shape = {
  members: {
    apiKeySecurityScheme: { required: { location: text, name: text } },
    httpAuthSecurityScheme: { required: { scheme: text } },
    oauth2SecurityScheme: { required: { flows: empty }, members: { flows: FLOWS } },
    openIdConnectSecurityScheme: { required: { openIdConnectUrl: text } },
  },
};
const INTERFACE: Shape = { required: { url: text, protocolBinding: text, protocolVersion: text } };
const SKILL: Shape = { required: { id: text, name: text, description: text, tags: list } };

const CARD: Shape = {
  required: {
    name: text,
    description: text,
    supportedInterfaces: list,
    version: text,
    capabilities: empty,
    defaultInputModes: list,
    defaultOutputModes: list,
    skills: list,
  },
  members: {
    supportedInterfaces: { each: INTERFACE },
    provider: { required: { url: text, organization: text } },
    securitySchemes: { each: SECURITY_SCHEME },
    skills: { each: SKILL },
  },
};

/**
 * What a signature of a card covers (section 8.4.1), before it is written by RFC 8785: the fields of A2A 1.0 without the
 * signatures. REQUIRED fields are always there, `optional` ones where they were set, others where they are not empty.
 * What is no field of 1.0 is not covered.
 */
export function canonicalAgentCard(card: sdk.AgentCard): JsonObject {
  const { signatures: _, ...json } = sdk.AgentCard.toJSON(card) as JsonObject;
  return completed(json, CARD) as JsonObject;
}

function completed(value: JsonValue, shape: Shape): JsonValue {
  if (Array.isArray(value)) return shape.each ? value.map((it) => completed(it, shape.each!)) : value;
  if (!isJsonObject(value)) return value;
  const whole: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const below = shape.members?.[name] ?? shape.each;
    whole[name] = below ? completed(member, below) : member;
  }
  for (const [name, none] of Object.entries(shape.required ?? {})) {
    if (whole[name] === undefined) whole[name] = completed(none(), shape.members?.[name] ?? {});
  }
  return whole;
}

/**
 * The text that the official SDKs sign and verify: as above, but everything that is empty is left out, also where it is
 * REQUIRED or stands in an extension's parameters. For a card in which nothing is empty both are the same.
 */
export function compactCardText(card: sdk.AgentCard): string {
  // It reads JSON, whatever its type says: security schemes of the decoded form would be lost.
  return sdk.canonicalizeAgentCard(sdk.AgentCard.toJSON(card) as sdk.AgentCard);
}

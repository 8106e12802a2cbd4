import * as sdk from '@a2a-js/sdk';
import { isJsonObject, type JsonObject, type JsonValue } from './json.js';

type ProtocolBinding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC';

export interface AgentInterface {
  url: string;
  protocolBinding: ProtocolBinding | (string & {});
  tenant?: string;
  protocolVersion: string;
}

export interface AgentExtension {
  uri: string;
  description?: string;
  required?: boolean;
  params?: JsonObject;
}

export interface AgentCapabilities {
  streaming?: boolean;
  pushNotifications?: boolean;
  extensions?: AgentExtension[];
  extendedAgentCard?: boolean;
}

export interface AgentSkill {
  id: string;
  name: string;
  description: string;
  tags: string[];
  examples?: string[];
  inputModes?: string[];
  outputModes?: string[];
}

/** A JWS over the card (section 8.4.2), base64url-encoded. */
export interface AgentCardSignature {
  protected: string;
  signature: string;
  header?: JsonObject;
}

/** An agent's self-description (A2A 1.0, section 4.4.1). */
export interface AgentCard {
  name: string;
  description: string;
  supportedInterfaces: AgentInterface[];
  provider?: { url: string; organization: string };
  version: string;
  documentationUrl?: string;
  capabilities: AgentCapabilities;
  securitySchemes?: JsonObject;
  securityRequirements?: JsonObject[];
  defaultInputModes: string[];
  defaultOutputModes: string[];
  skills: AgentSkill[];
  signatures?: AgentCardSignature[];
  iconUrl?: string;
}

/**
 * Shape of a message type of the specification: the defaults of its REQUIRED fields, and the types of its fields that
 * are messages.
 */
interface Shape {
  required?: Readonly<Record<string, () => JsonValue>>;
  members?: Readonly<Record<string, Shape>>;
  /** Type of each entry, if the value is a map or a list. */
  each?: Shape;
}

const emptyText = (): JsonValue => '';
const emptyList = (): JsonValue => [];
const emptyObject = (): JsonValue => ({});

const AUTHORIZATION_CODE: Shape = {
  required: { authorizationUrl: emptyText, tokenUrl: emptyText, scopes: emptyObject },
};
const CLIENT_CREDENTIALS: Shape = { required: { tokenUrl: emptyText, scopes: emptyObject } };
const DEVICE_CODE: Shape = {
  required: { deviceAuthorizationUrl: emptyText, tokenUrl: emptyText, scopes: emptyObject },
};
const FLOWS: Shape = {
  members: {
    authorizationCode: AUTHORIZATION_CODE,
    clientCredentials: CLIENT_CREDENTIALS,
    deviceCode: DEVICE_CODE,
  },
};
const SECURITY_SCHEME: Shape = {
  members: {
    apiKeySecurityScheme: { required: { location: emptyText, name: emptyText } },
    httpAuthSecurityScheme: { required: { scheme: emptyText } },
    oauth2SecurityScheme: { required: { flows: emptyObject }, members: { flows: FLOWS } },
    openIdConnectSecurityScheme: { required: { openIdConnectUrl: emptyText } },
  },
};
const INTERFACE: Shape = { required: { url: emptyText, protocolBinding: emptyText, protocolVersion: emptyText } };
const SKILL: Shape = { required: { id: emptyText, name: emptyText, description: emptyText, tags: emptyList } };

const CARD: Shape = {
  required: {
    name: emptyText,
    description: emptyText,
    supportedInterfaces: emptyList,
    version: emptyText,
    capabilities: emptyObject,
    defaultInputModes: emptyList,
    defaultOutputModes: emptyList,
    skills: emptyList,
  },
  members: {
    supportedInterfaces: { each: INTERFACE },
    provider: { required: { url: emptyText, organization: emptyText } },
    securitySchemes: { each: SECURITY_SCHEME },
    skills: { each: SKILL },
  },
};

/**
 * Returns the content of a card that a signature covers (section 8.4.1), to be serialized by RFC 8785
 * (`canonicalJson`).
 *
 * - REQUIRED fields are always present, `optional` fields only if they were set, other fields only if they are not
 *   empty.
 * - Signatures and members unknown to A2A 1.0 are not covered.
 */
export function canonicalAgentCard(card: sdk.AgentCard): JsonObject {
  const { signatures: _, ...json } = sdk.AgentCard.toJSON(card) as JsonObject;
  return completeFields(json, CARD) as JsonObject;
}

function completeFields(value: JsonValue, shape: Shape): JsonValue {
  if (Array.isArray(value)) return shape.each ? value.map((it) => completeFields(it, shape.each!)) : value;
  if (!isJsonObject(value)) return value;
  const whole: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const below = shape.members?.[name] ?? shape.each;
    whole[name] = below ? completeFields(member, below) : member;
  }
  for (const [name, none] of Object.entries(shape.required ?? {})) {
    if (whole[name] === undefined) whole[name] = completeFields(none(), shape.members?.[name] ?? {});
  }
  return whole;
}

/**
 * Returns the text of a card that the official SDKs sign and verify. The text omits everything empty, including
 * REQUIRED fields and parameters of extensions; for a card without empty members it equals the canonical text.
 */
export function compactCardText(card: sdk.AgentCard): string {
  // The SDK's function expects JSON, despite its type: the decoded form would lose security schemes.
  return sdk.canonicalizeAgentCard(sdk.AgentCard.toJSON(card) as sdk.AgentCard);
}

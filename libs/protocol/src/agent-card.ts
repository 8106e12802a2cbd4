import type { JsonObject } from './json.js';

export type ProtocolBinding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC';

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

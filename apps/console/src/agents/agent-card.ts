/** Members of an agent's A2A 1.0 card that the console shows. Any member may be missing: cards are not trusted. */
export interface A2aCard {
  name?: string;
  description?: string;
  version?: string;
  provider?: { organization?: string; url?: string };
  documentationUrl?: string;
  supportedInterfaces?: { url?: string; protocolBinding?: string; protocolVersion?: string; tenant?: string }[];
  capabilities?: Record<string, unknown> & { extensions?: { uri?: string; required?: boolean }[] };
  defaultInputModes?: string[];
  defaultOutputModes?: string[];
  securitySchemes?: Record<string, unknown>;
  skills?: { id?: string; name?: string; description?: string; tags?: string[]; examples?: string[] }[];
}

import type { AuthConfig } from './auth-config.js';
import type { ContentLimits } from './content-limits.js';
import type { FilesConfig } from './files-config.js';
import type { LimitsConfig } from './limits-config.js';
import type { McpServerEntry } from './mcp-config.js';
import type { MemoryConfig } from './memory-config.js';
import type { TracingConfig } from './tracing-config.js';

export type NodeDispatch = 'local' | 'http';
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** Where the model of an `agent` node is found; without a base URL the built-in `echo` model answers. */
export interface LlmConfig {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly model?: string;
  /** Name of the model that writes workflows (`GENERATE_MODEL`). Absent: `model`. */
  readonly generateModel?: string;
  /** Media types of Parts that it takes beside text and data. */
  readonly inputModes: readonly string[];
}

/** What signatures of remote agents' cards are worth: nothing, a warning where one is bad, or the call. */
export type CardSignaturePolicy = 'ignore' | 'warn' | 'require';
/**
 * What a significant change of a remote agent's card does: nothing, a warning, or no call until somebody accepts it.
 */
export type CardChangePolicy = 'allow' | 'warn' | 'block';

/** How the cards of agents are signed and trusted. */
export interface CardConfig {
  /** Whether our own are signed. */
  readonly signing: boolean;
  readonly signatures: CardSignaturePolicy;
  /** URLs of JWK Sets whose keys are trusted for cards of any origin. */
  readonly trustedKeys: readonly string[];
  readonly changes: CardChangePolicy;
  /** How long the pinned card of an agent is kept that is not called any more; absent: for ever. */
  readonly retentionMs?: number;
  /** How long readers may keep our own without asking again. */
  readonly maxAgeMs: number;
}

/** Tools of MCP servers. */
export interface McpConfig {
  /** Those of `MCP_SERVERS_FILE`. */
  readonly servers: readonly McpServerEntry[];
  /** What a change of a tool's description or schema does. */
  readonly changes: CardChangePolicy;
}

/** What the environment says, checked once at the start by `loadConfig`. A class, so that it can be injected. */
export class AppConfig {
  /** HTTP port; 0 lets the system choose. */
  readonly port!: number;
  readonly host!: string;
  /** Absent: the gRPC binding is off; 0 lets the system choose. */
  readonly grpcPort?: number;
  /** What agent cards tell about the gRPC binding: `host:port` or a URL. Absent: the public host and the bound port. */
  readonly grpcPublicUrl?: string;
  /** Absent: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl?: string;
  /** Of the same database, for plain queries; it may be a pooler of transactions. Absent: `databaseUrl`. */
  readonly databasePoolUrl?: string;
  /** The copy of a database that may be served although the original was served before: the code in its refusal. */
  readonly adoptDatabase?: string;
  /** Of the NATS that carries signals between replicas, with its secrets. Absent: the database carries them. */
  readonly signalsUrl?: string;
  /** Absolute. */
  readonly dataDir!: string;
  /** Without a trailing slash. */
  readonly publicUrl?: string;
  /** IP addresses or CIDR ranges whose forwarded headers count. */
  readonly trustedProxies!: readonly string[];
  /** Without a trailing slash. Absent: loopback on the bound port. */
  readonly internalUrl?: string;
  /** Hosts of requests that are served beside our own: `host`, `host:port`, `*.host` or `*`, in lower case. */
  readonly allowedHosts!: readonly string[];
  readonly nodeDispatch!: NodeDispatch;
  /** Absolute paths of modules with node types and tools of the operator's. */
  readonly plugins!: readonly string[];
  readonly auth!: AuthConfig;
  /** Keys of 32 bytes that secrets in the database are encrypted with: the first one encrypts, all decrypt. */
  readonly credentialsKeys!: readonly Buffer[];
  /** Hosts, IP addresses or CIDR ranges that outbound calls may reach although private. */
  readonly outboundAllow!: readonly string[];
  readonly llm!: LlmConfig;
  readonly cards!: CardConfig;
  readonly mcp!: McpConfig;
  /** Bytes. */
  readonly bodyLimit!: number;
  /** What one caller may ask of one replica. */
  readonly limits!: LimitsConfig;
  /** Subscriptions that one WebSocket may have at once. */
  readonly subscriptionLimit!: number;
  readonly memory!: MemoryConfig;
  /** How large what goes through may be. */
  readonly content!: ContentLimits;
  /** Files that callers upload. */
  readonly files!: FilesConfig;
  readonly tracing!: TracingConfig;
  /** How long a request may take to arrive. */
  readonly requestTimeoutMs!: number;
  readonly shutdownGraceMs!: number;
  /** How long Tasks are kept after they ended; absent: for ever. */
  readonly taskRetentionMs?: number;
  readonly logLevel!: LogLevel;
  /** True if the metrics, which are public, name workflows: those of all tenants. */
  readonly metricsWorkflows!: boolean;
  readonly corsOrigins!: readonly string[];
  readonly serviceName!: string;
  readonly serviceDescription!: string;

  constructor(values: Readonly<AppConfig>) {
    Object.assign(this, values);
    Object.freeze(this);
  }
}

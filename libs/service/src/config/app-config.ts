import type { AuthConfig, LimitsConfig } from './auth-config.js';
import type { ContentLimits } from './content-limits.js';
import type { FilesConfig } from './files-config.js';
import type { McpServerEntry } from './mcp-config.js';
import type { MemoryConfig } from './memory-config.js';
import type { TracingConfig } from './tracing-config.js';

/** Binding of A2A 1.x over which agents are called. */
export type AgentBinding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC';
export type NodeDispatch = 'local' | 'http';
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/**
 * Address and name of the operator's model, which `agent` nodes use by default. Without a base URL the built-in `echo`
 * model answers.
 */
export interface LlmConfig {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly model?: string;
  /** Name of the model that generates workflows (`GENERATE_MODEL`); defaults to `model`. */
  readonly generateModel?: string;
  /** Media types of files that the model accepts, besides text and JSON data. */
  readonly inputModes: readonly string[];
  /** Settings of calls that set none; absent: the defaults of the provider. */
  readonly defaults?: LlmDefaults;
}

/** Settings of the calls to the models of the operator's endpoint. */
export interface LlmDefaults {
  readonly temperature?: number;
  readonly topP?: number;
  readonly stop?: string[];
  readonly maxTokens?: number;
  /** Seconds to wait for the first piece of an answer, and for each further piece. */
  readonly waitSeconds?: number;
  /** Form of tool calls; absent: `native`. */
  readonly toolCalls?: 'native' | 'schema';
}

/** Policy for bad signatures of remote agents' cards: ignore them, log a warning, or fail the call. */
type CardSignaturePolicy = 'ignore' | 'warn' | 'require';
/**
 * Policy for a significant change of a remote agent's card: allow it, log a warning, or block calls until it is
 * accepted.
 */
type CardChangePolicy = 'allow' | 'warn' | 'block';

/** Signing of local agent cards, and trust in remote ones. */
export interface CardConfig {
  /** True if the cards of local agents are signed. */
  readonly signing: boolean;
  readonly signatures: CardSignaturePolicy;
  /** URLs of JWK Sets whose keys are trusted for cards of any origin. */
  readonly trustedKeys: readonly string[];
  readonly changes: CardChangePolicy;
  /** Milliseconds that the pinned card of an unused remote agent is kept; absent: no limit. */
  readonly retentionMs?: number;
  /** Milliseconds that clients may cache the cards of local agents. */
  readonly maxAgeMs: number;
}

/** Configuration of the MCP servers whose tools may be called. */
export interface McpConfig {
  /** Servers of `MCP_SERVERS_FILE`. */
  readonly servers: readonly McpServerEntry[];
  /** Policy for a change of a tool's description or schema. */
  readonly changes: CardChangePolicy;
}

/**
 * Settings for prompt logs: whether the texts exchanged with models are kept, redacted, and exported in trace spans.
 */
export interface PromptsConfig {
  /** True if prompts and answers of models are stored with their Tasks (`PROMPT_LOG`). */
  readonly kept: boolean;
  /**
   * Pattern (RE2) of texts that are redacted in stored prompts, in addition to credentials (`PROMPT_REDACT`); absent:
   * only credentials are redacted.
   */
  readonly redact?: string;
  /** True if the trace spans of model calls contain the texts sent to the model and its answers. */
  readonly inSpans: boolean;
}

/** Configuration of this process, validated once at startup by `loadConfig`. A class, so that Nest can inject it. */
export class AppConfig {
  /** HTTP port; 0 lets the system choose. */
  readonly port!: number;
  readonly host!: string;
  /** Port of the gRPC binding; 0 lets the system choose. Absent: the gRPC binding is off. */
  readonly grpcPort?: number;
  /**
   * Address of the gRPC binding in agent cards: `host:port` or a URL; `none`: cards do not name the binding. Absent: the
   * public host and the bound port.
   */
  readonly grpcPublicUrl?: string;
  /** URL of the database. Absent: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl?: string;
  /** URL of the same database for plain queries; may lead through a transaction pooler. Absent: `databaseUrl`. */
  readonly databasePoolUrl?: string;
  /**
   * Code (`ADOPT_DATABASE`) that permits serving one particular copy of a database, also while work is under way in it.
   * A start that refuses a copy reports this code in its error. Absent: a copy is served only if no work is under way
   * in it.
   */
  readonly adoptDatabase?: string;
  /**
   * URL of the NATS server that carries signals between replicas, credentials included. Absent: the database carries
   * the signals.
   */
  readonly signalsUrl?: string;
  /** Absolute path of the folder for local data (`DATA_DIR`). */
  readonly dataDir!: string;
  /** Public base URL of the service (`PUBLIC_URL`), without a trailing slash; absent if it is not configured. */
  readonly publicUrl?: string;
  /** IP addresses or CIDR ranges of proxies whose `X-Forwarded-` headers are trusted. */
  readonly trustedProxies!: readonly string[];
  /**
   * Base URL at which other replicas and this process call this service, without a trailing slash. Absent: loopback on
   * the bound port.
   */
  readonly internalUrl?: string;
  /** Additional hosts whose requests are served: `host`, `host:port`, `*.host` or `*`, in lower case. */
  readonly allowedHosts!: readonly string[];
  readonly nodeDispatch!: NodeDispatch;
  /** Absolute paths of the operator's modules with node types and tools. */
  readonly plugins!: readonly string[];
  readonly auth!: AuthConfig;
  /** Keys of 32 bytes for secrets in the database: the first key encrypts, all keys decrypt. */
  readonly credentialsKeys!: readonly Buffer[];
  /** Private hosts, IP addresses or CIDR ranges that outbound calls may reach. */
  readonly outboundAllow!: readonly string[];
  /**
   * Bindings of A2A 1.x over which agents are called, in order of preference; absent: all bindings, in the order of
   * each card.
   */
  readonly agentBindings?: readonly AgentBinding[] | undefined;
  readonly llm!: LlmConfig;
  readonly cards!: CardConfig;
  readonly mcp!: McpConfig;
  /** Maximum bytes of a request body. */
  readonly bodyLimit!: number;
  /** Rate limit, and limits of concurrency and streams, of one caller at one replica. */
  readonly limits!: LimitsConfig;
  /** Maximum number of concurrent subscriptions of one WebSocket. */
  readonly subscriptionLimit!: number;
  readonly memory!: MemoryConfig;
  /** Size limits of content. */
  readonly content!: ContentLimits;
  /** Settings for files that callers upload. */
  readonly files!: FilesConfig;
  readonly tracing!: TracingConfig;
  readonly prompts!: PromptsConfig;
  /** Maximum milliseconds until a request has arrived completely. */
  readonly requestTimeoutMs!: number;
  readonly shutdownGraceMs!: number;
  /** Milliseconds that Tasks are kept after their end; absent: no limit. */
  readonly taskRetentionMs?: number;
  /** Maximum cost of the models of a caller, or of a tenant, in a day (UTC), in US dollars; absent: no limit. */
  readonly callerDailyBudget?: string;
  readonly tenantDailyBudget?: string;
  readonly logLevel!: LogLevel;
  /** True if `/metrics`, which is public, has labels with the names of the workflows of all tenants. */
  readonly metricsWorkflows!: boolean;
  /** Tenant whose administrators may limit the work of all tenants; '' is the tenant of callers without a tenant. */
  readonly operatorTenant!: string;
  readonly corsOrigins!: readonly string[];
  readonly serviceName!: string;
  readonly serviceDescription!: string;

  constructor(values: Readonly<AppConfig>) {
    Object.assign(this, values);
    Object.freeze(this);
  }
}

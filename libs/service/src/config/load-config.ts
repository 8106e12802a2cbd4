import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { RE2JS } from 're2js';
import { z } from 'zod';
import {
  DATABASE_VARIABLES,
  databaseProblems,
  HOST_VARIABLES,
  protocolOf,
  SIGNALS_VARIABLES,
} from './addresses-config.js';
import { type AgentBinding, AppConfig, type LlmConfig } from './app-config.js';
import { type AuthConfig, LIMIT_VARIABLES, limitsOf, readAuth } from './auth-config.js';
import { CONTENT_VARIABLES, contentLimitsOf } from './content-limits.js';
import { FILES_VARIABLES, filesOf, readS3Keys, type S3Keys } from './files-config.js';
import { LLM_VARIABLES, llmDefaultsOf } from './llm-config.js';
import { type McpServerEntry, readMcpServers } from './mcp-config.js';
import { MEMORY_VARIABLES, memoryOf } from './memory-config.js';
import { readOidc } from './oidc-config.js';
import { parseBytes, parseDuration } from './quantities.js';
import { TRACING_VARIABLES, tracingOf } from './tracing-config.js';

/**
 * Reports an unusable configuration. `lines` has one line per bad variable; a line contains the name of the variable,
 * never its value.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly lines: readonly string[]) {
    super(`Bad configuration:\n${lines.join('\n')}`);
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

const MAX_BODY = 1024 ** 3;
const MAX_GRACE_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Maximum retention in milliseconds: one century, so that no computed time exceeds the range of a Date. */
const LONGEST_RETENTION_MS = 36_500 * DAY_MS;
const MEDIA_TYPE = /^[a-z]+\/(\*|[a-z0-9][a-z0-9.+-]*)$/;

/**
 * Reads and validates the configuration from environment variables; an empty variable counts as unset.
 * @throws ConfigError with one line per bad variable, which never contains its value
 */
export function loadConfig(env: Environment): AppConfig {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = VARIABLES.safeParse(given);
  const lines = parsed.success ? [] : linesOf(parsed.error);
  // The requirements of a bad HOST cannot be determined.
  const auth = lines.some((line) => line.startsWith('HOST:')) ? { problems: [] } : readAuth(given);
  const { oidc, problems: oidcProblems } = readOidc(given, auth.config?.jwt);
  const key = llmApiKey(given);
  const mcp = readMcpServers(given['MCP_SERVERS_FILE']);
  const others = [key.problem, mcp.problem].filter((it) => it !== undefined);
  const s3 = readS3Keys(given);
  lines.push(...auth.problems, ...oidcProblems, ...databaseProblems(given), ...others, ...s3.problems);
  if (!parsed.success || !auth.config || lines.length > 0) throw new ConfigError(lines);
  const read = { apiKey: key.value, servers: mcp.servers, s3: s3.keys };
  return new AppConfig(toConfig(parsed.data, oidc ? { ...auth.config, oidc } : auth.config, read));
}

const port = z
  .string()
  .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, 'must be a port number from 0 to 65535')
  .transform(Number);

const httpUrl = z
  .string()
  .refine(isHttpUrl, 'must be an http:// or https:// URL without query, fragment or credentials')
  .transform((text) => text.replace(/(?<!\/)\/+$/, ''));

/**
 * Pattern of a gRPC target with a `*` as the first label of its host, such as `*.example.com:443`. In the card of an
 * agent a label for the agent replaces the `*`.
 */
const FIRST_LABEL = /^(?:https?:\/\/)?\*\.[^*]+$/i;
const grpcTarget = z
  .string()
  .refine(
    (text) => text === 'none' || isGrpcTarget(text),
    'must be host:port, an https:// or http:// URL of the gRPC endpoint, or none',
  )
  .refine((text) => !text.includes('*') || FIRST_LABEL.test(text), 'may have a * only as the first label of the host');

const addresses = listOf(isAddressOrRange, 'must be a comma-separated list of IP addresses or CIDR ranges');
const destinations = listOf(
  (entry) => isAddressOrRange(entry) || isHostName(entry),
  'must be a comma-separated list of host names, IP addresses or CIDR ranges',
);
const origins = listOf(
  (entry) => entry === '*' || isOrigin(entry),
  'must be a comma-separated list of origins such as https://app.example.com, or *',
);

const mediaTypes = listOf(
  (entry) => MEDIA_TYPE.test(entry),
  'must be a comma-separated list of media types such as image/png or image/*',
);

const modulePaths = listOf(
  (entry) => /\.[cm]?[jt]s$/.test(entry),
  'must be a comma-separated list of paths of modules: .mjs, .js, .ts and the like',
);

const bindings = listOf(
  (entry) => /^(JSONRPC|HTTP\+JSON|GRPC)$/.test(entry),
  'must be a comma-separated list of JSONRPC, HTTP+JSON and GRPC',
);

const keySets = listOf(isHttpUrl, 'must be a comma-separated list of http:// or https:// URLs of JWK Sets');

const bodyLimit = z
  .string()
  .transform((text) => parseBytes(text) ?? 0)
  .refine((bytes) => bytes >= 1 && bytes <= MAX_BODY, 'must be a size such as 4194304, 512kb or 4mb, at most 1gb');

const credentialsKeys = z
  .string()
  .transform((text) => text.split(',').map((entry) => secretKey(entry.trim())))
  .refine(
    (keys): keys is Buffer[] => keys.every((key) => key !== undefined),
    'must be 32 bytes in base64; several are separated by commas',
  );

const shutdownGrace = z
  .string()
  .transform((text) => parseDuration(text) ?? -1)
  .refine((ms) => ms >= 0 && ms <= MAX_GRACE_MS, 'must be a number of seconds such as 20 or 20s, at most one hour');

const requestTimeout = z
  .string()
  .transform((text) => parseDuration(text) ?? -1)
  .refine((ms) => ms >= 1000 && ms <= MAX_GRACE_MS, 'must be a number of seconds such as 120 or 2m, at most one hour');

const cardMaxAge = z
  .string()
  .transform((text) => parseDuration(text) ?? -1)
  .refine((ms) => ms >= 0 && ms <= DAY_MS, 'must be a number of seconds such as 60 or 5m, at most one day');

const taskRetention = z
  .string()
  .transform((text) => parseDuration(text) ?? -1)
  .refine(
    (ms) => ms >= 1000 && ms <= LONGEST_RETENTION_MS,
    'must be a duration such as 30d, 12h or 90m, from one second to 36500d',
  );

const cardRetention = z
  .string()
  .transform((text) => parseDuration(text) ?? -1)
  .refine(
    (ms) => ms >= DAY_MS && ms <= LONGEST_RETENTION_MS,
    'must be a duration such as 365d or 24h, from one day to 36500d',
  );

const dollars = z
  .string()
  .refine((text) => /^\d{1,7}(\.\d{1,6})?$/.test(text), 'must be an amount in US dollars such as 20 or 0.5');

const redactedPattern = z
  .string()
  .refine(isPattern, 'must be a regular expression in the syntax of RE2 that does not match the empty text');

const VARIABLES = z.object({
  PORT: port.default(3000),
  HOST: z
    .string()
    .refine((text) => isIP(text) > 0 || isHostName(text), 'must be an IP address or a host name')
    .default('127.0.0.1'),
  GRPC_PORT: port.optional(),
  GRPC_PUBLIC_URL: grpcTarget.optional(),
  ...DATABASE_VARIABLES,
  ...SIGNALS_VARIABLES,
  DATA_DIR: z.string().default('./.data'),
  PUBLIC_URL: httpUrl.optional(),
  TRUSTED_PROXIES: addresses.default([]),
  INTERNAL_URL: httpUrl.optional(),
  ...HOST_VARIABLES,
  NODE_DISPATCH: z.enum(['local', 'http'], 'must be local or http').default('local'),
  PARLEY_PLUGINS: modulePaths.default([]),
  OUTBOUND_ALLOW: destinations.default([]),
  AGENT_BINDINGS: bindings.optional(),
  LLM_BASE_URL: httpUrl.optional(),
  LLM_MODEL: z.string().optional(),
  GENERATE_MODEL: z.string().optional(),
  LLM_INPUT_MODES: mediaTypes.default([]),
  ...LLM_VARIABLES,
  CARD_SIGNING: z.enum(['on', 'off'], 'must be on or off').default('on'),
  CARD_SIGNATURES: z.enum(['ignore', 'warn', 'require'], 'must be ignore, warn or require').default('warn'),
  CARD_TRUSTED_KEYS: keySets.default([]),
  CARD_CHANGE_POLICY: z.enum(['allow', 'warn', 'block'], 'must be allow, warn or block').default('warn'),
  MCP_CHANGE_POLICY: z.enum(['allow', 'warn', 'block'], 'must be allow, warn or block').optional(),
  CARD_MAX_AGE: cardMaxAge.default(60_000),
  BODY_LIMIT: bodyLimit.default(4 * 1024 ** 2),
  ...LIMIT_VARIABLES,
  ...MEMORY_VARIABLES,
  ...CONTENT_VARIABLES,
  ...FILES_VARIABLES,
  ...TRACING_VARIABLES,
  PROMPT_LOG: z.enum(['on', 'off'], 'must be on or off').default('on'),
  PROMPT_REDACT: redactedPattern.optional(),
  REQUEST_TIMEOUT: requestTimeout.default(120_000),
  SHUTDOWN_GRACE: shutdownGrace.default(20_000),
  TASK_RETENTION: taskRetention.optional(),
  CALLER_DAILY_BUDGET: dollars.optional(),
  TENANT_DAILY_BUDGET: dollars.optional(),
  CARD_RETENTION: cardRetention.optional(),
  CREDENTIALS_KEY: credentialsKeys.default([]),
  LOG_LEVEL: z
    .enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be one of fatal, error, warn, info, debug, trace, silent',
    )
    .default('info'),
  OPERATOR_TENANT: z.string().optional(),
  METRICS_WORKFLOWS: z.enum(['true', 'false'], 'must be true or false').optional(),
  CORS_ORIGINS: origins.default([]),
  SERVICE_NAME: z.string().max(100, 'must have at most 100 characters').default('parley'),
  SERVICE_DESCRIPTION: z
    .string()
    .max(1000, 'must have at most 1000 characters')
    .default('Runs, orchestrates and remembers A2A agents.'),
});

type ConfigVariables = z.output<typeof VARIABLES>;

function linesOf(error: z.ZodError): string[] {
  const lines = new Map<string, string>();
  for (const issue of error.issues) {
    const key = String(issue.path[0]);
    if (!lines.has(key)) lines.set(key, `${key}: ${issue.message}`);
  }
  return [...lines.values()];
}

interface ValueOrProblem<T> {
  value?: T;
  problem?: string;
}

/** Returns the API key of the model: the value of `LLM_API_KEY`, or of the variable that `LLM_API_KEY_ENV` names. */
function llmApiKey(env: Record<string, string | undefined>): ValueOrProblem<string> {
  const reference = env['LLM_API_KEY_ENV'];
  if (reference === undefined) return { value: env['LLM_API_KEY'] };
  if (env['LLM_API_KEY'] !== undefined) return { problem: 'LLM_API_KEY_ENV: set either it or LLM_API_KEY, not both' };
  const value = env[reference];
  return value === undefined ? { problem: 'LLM_API_KEY_ENV: names a variable that is not set' } : { value };
}

/** Values of the files and variables that other variables reference. */
interface ReferencedValues {
  apiKey: string | undefined;
  servers: readonly McpServerEntry[];
  s3: S3Keys | undefined;
}

function toConfig(values: ConfigVariables, auth: AuthConfig, { apiKey, servers, s3 }: ReferencedValues): AppConfig {
  const { LLM_BASE_URL: baseUrl, LLM_MODEL: model, LLM_INPUT_MODES: inputModes } = values;
  const defaults = llmDefaultsOf(values);
  const named = { model, generateModel: values.GENERATE_MODEL };
  const llm: LlmConfig = { baseUrl, apiKey, ...named, inputModes, ...(defaults && { defaults }) };
  return {
    port: values.PORT,
    host: values.HOST,
    grpcPort: values.GRPC_PORT,
    grpcPublicUrl: values.GRPC_PUBLIC_URL,
    databaseUrl: values.DATABASE_URL,
    databasePoolUrl: values.DATABASE_POOL_URL,
    adoptDatabase: values.ADOPT_DATABASE,
    signalsUrl: values.SIGNALS_URL,
    dataDir: resolve(values.DATA_DIR),
    publicUrl: values.PUBLIC_URL,
    trustedProxies: values.TRUSTED_PROXIES,
    internalUrl: values.INTERNAL_URL,
    allowedHosts: values.ALLOWED_HOSTS,
    nodeDispatch: values.NODE_DISPATCH,
    plugins: values.PARLEY_PLUGINS.map((path) => resolve(path)),
    auth,
    credentialsKeys: values.CREDENTIALS_KEY,
    outboundAllow: values.OUTBOUND_ALLOW,
    agentBindings: values.AGENT_BINDINGS as AgentBinding[] | undefined,
    llm,
    cards: {
      signing: values.CARD_SIGNING === 'on',
      signatures: values.CARD_SIGNATURES,
      trustedKeys: values.CARD_TRUSTED_KEYS,
      changes: values.CARD_CHANGE_POLICY,
      retentionMs: values.CARD_RETENTION,
      maxAgeMs: values.CARD_MAX_AGE,
    },
    mcp: { servers, changes: values.MCP_CHANGE_POLICY ?? values.CARD_CHANGE_POLICY },
    bodyLimit: values.BODY_LIMIT,
    limits: limitsOf(values, auth.mode),
    subscriptionLimit: values.SUBSCRIPTION_LIMIT,
    memory: memoryOf(values, auth.mode !== 'none'),
    content: contentLimitsOf(values, values.BODY_LIMIT),
    files: filesOf(values, s3),
    tracing: tracingOf(values, values.SERVICE_NAME),
    prompts: {
      kept: values.PROMPT_LOG === 'on',
      ...(values.PROMPT_REDACT && { redact: values.PROMPT_REDACT }),
      inSpans: values.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT === 'true',
    },
    requestTimeoutMs: values.REQUEST_TIMEOUT,
    shutdownGraceMs: values.SHUTDOWN_GRACE,
    taskRetentionMs: values.TASK_RETENTION,
    callerDailyBudget: values.CALLER_DAILY_BUDGET,
    tenantDailyBudget: values.TENANT_DAILY_BUDGET,
    logLevel: values.LOG_LEVEL,
    operatorTenant: values.OPERATOR_TENANT ?? '',
    metricsWorkflows: (values.METRICS_WORKFLOWS ?? String(auth.mode === 'none')) === 'true',
    corsOrigins: values.CORS_ORIGINS,
    serviceName: values.SERVICE_NAME,
    serviceDescription: values.SERVICE_DESCRIPTION,
  };
}

/** True if RE2 accepts a pattern, and the pattern does not match the empty text. */
function isPattern(text: string): boolean {
  try {
    return !RE2JS.compile(text).test('');
  } catch {
    return false;
  }
}

/** Decodes a key of 32 bytes from base64 or base64url, with or without padding. Returns `undefined` for other text. */
function secretKey(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return key.length === 32 ? key : undefined;
}

function listOf(accepts: (entry: string) => boolean, message: string): z.ZodType<string[], string> {
  return z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    )
    .refine((entries) => entries.every(accepts), message);
}

function isHttpUrl(text: string): boolean {
  if (!['http:', 'https:'].includes(protocolOf(text))) return false;
  const url = new URL(text);
  return url.search === '' && url.hash === '' && url.username === '' && url.password === '';
}

function isGrpcTarget(text: string): boolean {
  if (isHttpUrl(text)) return true;
  return /^[^\s/@]+:\d{1,5}$/.test(text) && URL.canParse(`http://${text}`);
}

function isOrigin(text: string): boolean {
  return isHttpUrl(text) && new URL(text).origin === text;
}

function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

/**
 * True for a host name: letters, digits, hyphens and underscores between dots. False for a text of digits and dots
 * alone, which is a mistyped address.
 */
function isHostName(text: string): boolean {
  return (
    /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/i.test(text) &&
    !/^[\d.]+$/.test(text)
  );
}

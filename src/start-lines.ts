import type { AppConfig } from '#libs/service';
import { SERVICE_VERSION } from '#libs/workflows';

/** Addresses of a service that is ready, and its state at the start. */
export interface ReachedAt {
  url: string;
  grpcPort: number | undefined;
  /** False if the console was not built. */
  hasConsole: boolean;
  /** Loaded plugins, one text each. */
  plugins?: readonly string[];
  /** Sentences about problems that do not stop the service from answering requests; each becomes a line `warning`. */
  remarks?: readonly string[];
}

/** Returns the lines about the service's settings for the person who started it. They contain no secrets. */
export function startLines(
  config: AppConfig,
  { url, grpcPort, hasConsole, plugins = [], remarks = [] }: ReachedAt,
): string[] {
  const rows: [string, string][] = [
    ...(hasConsole ? [['console', `${url}/`] satisfies [string, string]] : []),
    ['API', `${url}/docs`],
    // Clients look for a card below an agent's URL, and many take the last segment of a URL without a slash for a file.
    ['agents', `${url}/a2a/`],
    ...(grpcPort === undefined ? [] : [['gRPC', `port ${grpcPort}`] satisfies [string, string]]),
    ['callers', callersOf(config)],
    ['database', databaseOf(config)],
    ['model', config.llm.baseUrl === undefined ? 'echo (LLM_BASE_URL names a real one)' : (config.llm.model ?? 'set')],
    ...(plugins.length === 0 ? [] : [['plugins', plugins.join(', ')] satisfies [string, string]]),
    ['version', `${SERVICE_VERSION}, Node ${process.versions.node}`],
    ...remarks.map((remark): [string, string] => ['warning', remark]),
  ];
  return rows.map(([name, value]) => `  ${name.padEnd(9)} ${value}`);
}

function callersOf({ auth, host }: AppConfig): string {
  const people = auth.oidc ? ', people also with an account (CONSOLE_OIDC_ISSUER)' : '';
  if (auth.mode === 'api-key') return `with an API key (AUTH_MODE=api-key)${people}`;
  if (auth.mode === 'jwt') return `with a token (AUTH_MODE=jwt)${people}`;
  return `anyone who reaches ${host} (AUTH_MODE=none)`;
}

/** Describes the database without its URL, which may contain a password, also in its query. */
function databaseOf({ databaseUrl, dataDir }: AppConfig): string {
  if (databaseUrl === undefined) return `embedded PostgreSQL under ${dataDir}`;
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined;
  return url ? `PostgreSQL ${url.pathname.slice(1)} at ${url.host || 'localhost'}` : 'PostgreSQL (DATABASE_URL)';
}

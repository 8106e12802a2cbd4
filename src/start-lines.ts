import { SERVICE_VERSION } from '#libs/orchestrator';
import type { AppConfig } from '#libs/service';

/** Where a service that is ready is reached. */
export interface ReachedAt {
  url: string;
  grpcPort: number | undefined;
  /** False where the console was not built. */
  hasConsole: boolean;
}

/** What whoever started the service wants to know of it, beside that it is ready. Names no secret. */
export function startLines(config: AppConfig, { url, grpcPort, hasConsole }: ReachedAt): string[] {
  const rows: [string, string][] = [
    ...(hasConsole ? [['console', `${url}/`] satisfies [string, string]] : []),
    ['API', `${url}/docs`],
    // Clients look for a card below an agent's URL, and the last word of a URL without a slash is a file to many of them.
    ['agents', `${url}/a2a/`],
    ...(grpcPort === undefined ? [] : [['gRPC', `port ${grpcPort}`] satisfies [string, string]]),
    ['callers', callersOf(config)],
    ['database', databaseOf(config)],
    ['model', config.llm.baseUrl === undefined ? 'echo (LLM_BASE_URL names a real one)' : (config.llm.model ?? 'set')],
    ['version', `${SERVICE_VERSION}, Node ${process.versions.node}`],
  ];
  return rows.map(([name, value]) => `  ${name.padEnd(9)} ${value}`);
}

function callersOf({ auth, host }: AppConfig): string {
  if (auth.mode === 'api-key') return 'with an API key (AUTH_MODE=api-key)';
  if (auth.mode === 'jwt') return 'with a token (AUTH_MODE=jwt)';
  return `anyone who reaches ${host} (AUTH_MODE=none)`;
}

/** A password may be in the URL, and in its query. */
function databaseOf({ databaseUrl, dataDir }: AppConfig): string {
  if (databaseUrl === undefined) return `embedded PostgreSQL under ${dataDir}`;
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined;
  return url ? `PostgreSQL ${url.pathname.slice(1)} at ${url.host || 'localhost'}` : 'PostgreSQL (DATABASE_URL)';
}

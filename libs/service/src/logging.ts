import { Logger, type LoggerService, Module } from '@nestjs/common';
import { type Logger as NestPinoLogger, LoggerModule } from 'nestjs-pino';
import { format } from 'node:util';
import pino from 'pino';
import type { LoggerOptions } from 'pino';
import { AppConfig } from './config/app-config.js';
import { TraceIds } from './trace-context.js';

const STDERR = 2;

/**
 * Provides the logger to which Nest's own logger writes (`app.useLogger(app.get(Logger))`, `Logger` from nestjs-pino).
 * Single requests are logged only at level debug and below: a log line costs more than many requests.
 */
@Module({
  imports: [
    LoggerModule.forRootAsync({
      inject: [AppConfig, TraceIds],
      useFactory: (config: AppConfig, traces: TraceIds) => ({
        pinoHttp: [
          { ...loggerOptions(config, traces), autoLogging: { ignore: isProbe }, quietReqLogger: true },
          openLogStream(),
        ],
        forRoutes: logsRequests(config) ? [{ path: '*splat', method: ALL_METHODS }] : [],
      }),
    }),
  ],
})
export class LoggingModule {}

/** Nest contexts that log dozens of startup lines without value for operators. */
const BUILDERS = new Set(['InstanceLoader', 'RouterExplorer', 'RoutesResolver', 'WebSocketsController']);

/** Wraps Nest's logger: startup messages of Nest's route and module builders are logged at level debug. */
export function withQuietRoutes(logger: NestPinoLogger): LoggerService {
  return {
    log: (message: unknown, ...rest: unknown[]) =>
      BUILDERS.has(String(rest.at(-1))) ? logger.debug(message, ...rest) : logger.log(message, ...rest),
    fatal: (message: unknown, ...rest: unknown[]) => logger.fatal(message, ...rest),
    error: (message: unknown, ...rest: unknown[]) => logger.error(message, ...rest),
    warn: (message: unknown, ...rest: unknown[]) => logger.warn(message, ...rest),
    debug: (message: unknown, ...rest: unknown[]) => logger.debug(message, ...rest),
    verbose: (message: unknown, ...rest: unknown[]) => logger.verbose(message, ...rest),
  };
}

/** `RequestMethod.ALL`, as a number because nestjs-pino's types ask for it. */
const ALL_METHODS = 5;

export function loggerOptions(
  { logLevel, serviceName }: Pick<AppConfig, 'logLevel' | 'serviceName'>,
  traces = new TraceIds(),
): LoggerOptions {
  return {
    level: logLevel,
    base: { service: serviceName, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: (line) => traces.addTraceId(line) },
    redact: { paths: SECRETS, censor: '[redacted]' },
    serializers: { req: withoutQuery },
  };
}

const SECRET_HEADERS = [
  'authorization',
  'cookie',
  '["set-cookie"]',
  '["x-api-key"]',
  '["proxy-authorization"]',
  // Tickets for WebSockets are sent in the first header, tokens of webhooks in the second.
  '["sec-websocket-protocol"]',
  '["x-a2a-notification-token"]',
];
const SECRETS = ['headers', 'req.headers', 'res.headers', 'request.headers'].flatMap((parent) =>
  SECRET_HEADERS.map((name) => (name.startsWith('[') ? `${parent}${name}` : `${parent}.${name}`)),
);

/** Removes the query from a logged request, since it may contain credentials. */
function withoutQuery(request: { url?: string; query?: unknown }): object {
  const { query: _query, ...rest } = request;
  return { ...rest, url: request.url?.split('?', 1)[0] };
}

/**
 * Opens the stream of JSON log lines to standard error. On standard output the service writes only the line that
 * reports readiness.
 */
function openLogStream() {
  return pino.destination({ dest: STDERR, sync: true });
}

function logsRequests({ logLevel }: Pick<AppConfig, 'logLevel'>): boolean {
  return logLevel === 'debug' || logLevel === 'trace';
}

function isProbe(request: { url?: string }): boolean {
  return /^\/(health|metrics)(\/|$|\?)/.test(request.url ?? '');
}

const logger = new Logger('Console');

/**
 * Redirects the `console` output of packages and plugins to the log, at level `warn`. The log is written to standard
 * error, and its readers parse every line as JSON.
 */
export function logConsole(): void {
  for (const name of ['error', 'warn', 'trace'] as const) {
    console[name] = (...values: unknown[]) => {
      const err = values.find((value) => value instanceof Error);
      if (err) logger.warn({ err }, err.message);
      else logger.warn(format(...values));
    };
  }
}

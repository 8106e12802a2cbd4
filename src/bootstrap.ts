import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyHttpOptions, FastifyReply, FastifyRequest } from 'fastify';
import { Logger } from 'nestjs-pino';
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { answerUnreadableAddress, GrpcServer, registerA2aRoutes, RequestHandler } from '#libs/a2a-server';
import {
  admitBodies,
  auditCalls,
  Authentication,
  BrowserGuard,
  CallerLimits,
  guardBrowsers,
  guardRoutes,
  LoopTurns,
  OpenCalls,
  RefusedBodies,
  scopeOf,
} from '#libs/access';
import { GatewayAdapter, GatewaySocket } from '#libs/event-gateway';
import { AgentCatalog, CancelPoller, TaskRecovery } from '#libs/executor';
import {
  acceptStreamedBodies,
  type BodyTurn,
  corsOptions,
  endReadsOfGoneClients,
  FrameRoom,
  jsonBodyParser,
  requestTimes,
  requestTrace,
  ServiceAddress,
  toProblem,
} from '#libs/http-server';
import { Jobs } from '#libs/jobs';
import { registerMcpRoutes } from '#libs/mcp-server';
import {
  type AppConfig,
  ConfigError,
  type Environment,
  InFlight,
  loadConfig,
  logConsole,
  type LogLevel,
  LoopShares,
  Readiness,
  Shutdown,
  withQuietRoutes,
} from '#libs/service';
import { TaskQuestions, TaskStore } from '#libs/tasks';
import { AppModule } from './app.module.js';
import {
  acceptJsonBodies,
  addRetryAfter,
  answerUnreadableRequest,
  drainOversizedBodies,
  refuseCodedBodies,
  setBrowserHeaders,
} from './request-hooks.js';
import { startLines } from './start-lines.js';
import { hasConsole, serveConsole, serveDocumentation } from './web-pages.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Handles signals before the application exists. A signal waits for the start to finish, at most the grace time, so
 * that it can be stopped in order; after that the process ends what it has started at once. Its exit code is 0, as
 * after any other stop.
 */
class EarlyStop {
  isWished = false;
  private readonly onSignal = (): void => {
    this.isWished = true;
    setTimeout(() => void this.endNow(), this.config.shutdownGraceMs);
  };

  constructor(private readonly config: AppConfig) {
    for (const signal of SIGNALS) process.once(signal, this.onSignal);
  }

  endIfWished(): void {
    if (this.isWished) process.exit(0);
  }

  /** Stops handling signals; from now on the application handles them. */
  releaseSignals(): void {
    for (const signal of SIGNALS) process.off(signal, this.onSignal);
  }

  private async endNow(): Promise<void> {
    await Shutdown.afterFailedStart(this.config, 0);
    process.exit(0);
  }
}

type CollectGarbage = (how: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Releases the memory that only the start needed, a quarter of the process's memory. Otherwise V8 would collect old
 * objects only after the heap has doubled. The process stalls for some 70 ms, and compiled code is released too, so
 * call it before the first request.
 */
function returnStartMemory(): void {
  // The flag affects only contexts that are created later.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as CollectGarbage;
  // The code cache of a process with other flags is useless to the next one.
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Maximum length of a path parameter: ids of nodes and runs exceed the router's default of 100 characters. */
const MAX_PATH_PARAMETER = 1024;
/** Maximum bytes of all headers of a request. */
const MAX_HEADERS = 16 * 1024;

/** Log levels at which the start reports more than one line. */
const TALKATIVE: ReadonlySet<LogLevel> = new Set(['info', 'debug', 'trace']);

/** Service that listens. */
interface ListeningService {
  /** Base URL of the service. */
  url: string;
  /** Port of gRPC; absent if gRPC is off. */
  grpcPort?: number;
}

/**
 * Starts the service and reports that in one line on standard output, followed by its main settings unless LOG_LEVEL is
 * above info. An invalid configuration ends the process with one line per variable on standard error, and exit code 1.
 */
export async function startService(environment: Environment): Promise<void> {
  try {
    const config = loadConfig(environment);
    const { url, grpcPort } = await startedOn(config, new EarlyStop(config));
    // A reader of the ready line may close the pipe, which does not end the service.
    process.stdout.on('error', () => undefined);
    const more = TALKATIVE.has(config.logLevel) ? startLines(config, { url, grpcPort, hasConsole: hasConsole() }) : [];
    process.stdout.write([`Parley is ready on ${url}`, ...more, ''].join('\n'));
  } catch (error) {
    const lines = error instanceof ConfigError ? error.lines : [`Parley could not start: ${(error as Error).message}`];
    process.stderr.write(`${lines.join('\n')}\n`);
    process.exit(1);
  }
}

/**
 * Creates the application and listens. If the start fails or is stopped, it stops what it had started, the embedded
 * database included, before it reports that.
 */
async function startedOn(config: AppConfig, stop: EarlyStop): Promise<ListeningService> {
  const app = await createApp(config).catch(async (error: unknown) => {
    await Shutdown.afterFailedStart(config);
    stop.endIfWished();
    throw error;
  });
  if (stop.isWished) await app.close();
  stop.endIfWished();
  stop.releaseSignals();
  returnStartMemory();
  logConsole();
  return listenAndRecover(app, config).catch(async (error: unknown) => {
    await app.close();
    throw error;
  });
}

/** Creates the application, ready to listen; tests start it in their own process. */
export async function createApp(config: AppConfig): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter(serverOptions(config));
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forConfig(config), adapter, {
    logger: false,
    abortOnError: false,
    bodyParser: false,
  });
  app.useLogger(withQuietRoutes(app.get(Logger)));
  if (config.corsOrigins.length > 0) app.enableCors(corsOptions(config.corsOrigins));
  const fastify = app.getHttpAdapter().getInstance();
  setBrowserHeaders(fastify);
  addRetryAfter(fastify);
  endReadsOfGoneClients(fastify);
  acceptJsonBodies(fastify);
  acceptStreamedBodies(fastify);
  guardBrowsers(fastify, app.get(BrowserGuard));
  const refused = new RefusedBodies(app.get(InFlight));
  const turns = new LoopTurns(app.get(LoopShares));
  guardRoutes(fastify, {
    authentication: app.get(Authentication),
    openCalls: app.get(OpenCalls),
    limits: app.get(CallerLimits),
    refused,
    turns,
  });
  admitBodies(fastify, app.get(InFlight), config.bodyLimit, refused);
  auditCalls(fastify);
  refuseCodedBodies(fastify);
  drainOversizedBodies(fastify, config.bodyLimit);
  const { bodyLimit, content } = config;
  const bodyTurn: BodyTurn = (...body) => turns.readBody(...body);
  app.useBodyParser('application/json', { bodyLimit }, jsonBodyParser(fastify, content.jsonMembers, bodyTurn));
  serveAgents(app, config, bodyTurn);
  app.get(FrameRoom).serveStreams(app.getHttpServer(), scopeOf);
  serveSockets(app);
  serveDocumentation(app, config);
  await serveConsole(app);
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  return app;
}

/** Attaches the WebSocket of the event gateway, which handles upgrades itself (ADR 41). */
function serveSockets(app: NestFastifyApplication): void {
  const sockets = app.get(GatewaySocket, { strict: false });
  app.useWebSocketAdapter(new GatewayAdapter(sockets));
  sockets.attachTo(app.getHttpServer());
}

/** Registers A2A and MCP, whose routes are not controllers (ADR 4). */
function serveAgents(app: NestFastifyApplication, { content, auth }: AppConfig, bodyTurn: BodyTurn): void {
  const fastify = app.getHttpAdapter().getInstance();
  const handler = app.get(RequestHandler, { strict: false });
  const address = app.get(ServiceAddress);
  const a2a = registerA2aRoutes(fastify, {
    handler,
    catalog: app.get(AgentCatalog, { strict: false }),
    address,
    jsonMembers: content.jsonMembers,
    bodyTurn,
  });
  const mcp = registerMcpRoutes(fastify, {
    handler,
    address,
    tasks: app.get(TaskStore, { strict: false }),
    questions: app.get(TaskQuestions, { strict: false }),
    jsonMembers: content.jsonMembers,
    ...(auth.jwt && { issuer: auth.jwt.issuer }),
  });
  app.get(Shutdown).registerStep('streams', () => {
    a2a.endStreams();
    mcp.endStreams();
  });
}

function serverOptions(config: AppConfig): FastifyHttpOptions<Server> {
  const { bodyLimit, requestTimeoutMs } = config;
  const { requestTimeout, http } = requestTimes(requestTimeoutMs);
  return {
    bodyLimit,
    genReqId: () => randomUUID(),
    forceCloseConnections: 'idle',
    frameworkErrors: refuseAddress,
    clientErrorHandler: answerUnreadableRequest,
    requestTimeout,
    http: {
      ...http,
      maxHeaderSize: MAX_HEADERS,
      // The browser guard checks the host, and reads the request to its end.
      requireHostHeader: false,
      // A client that offers another protocol, as HTTP/2 without TLS, expects an answer in any case.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER, ignoreTrailingSlash: true },
  };
}

/**
 * Answers an address that the router cannot parse, before any route, in the format of the surface that it seems to
 * address.
 */
function refuseAddress(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  if (request.url.startsWith('/a2a')) return answerUnreadableAddress(request, reply);
  const problem = { ...toProblem(error), requestId: String(request.id), ...requestTrace(request.raw) };
  void reply.code(problem.status).header('content-type', 'application/problem+json').send(JSON.stringify(problem));
}

/** Listens, and then adopts the work that other processes left. */
export async function listenAndRecover(app: NestFastifyApplication, config: AppConfig): Promise<ListeningService> {
  await app.listen(config.port, config.host);
  const url = (await app.getUrl()).replace('[::1]', 'localhost');
  app.get(ServiceAddress).setBoundUrl(url);
  const grpcPort = await app.get(GrpcServer).listenIfConfigured();
  app.get(TaskRecovery).start();
  app.get(CancelPoller).start();
  app.get(Jobs).start();
  app.get(Readiness).started = true;
  return { url, ...(grpcPort !== undefined && { grpcPort }) };
}

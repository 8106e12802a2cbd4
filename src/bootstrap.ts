import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyHttpOptions, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import helmet from 'helmet';
import { Logger } from 'nestjs-pino';
import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { finished, type Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  answerUnreadableAddress,
  CatalogSigner,
  GrpcServer,
  registerA2aRoutes,
  registerAiCatalogRoutes,
  RequestHandler,
} from '#libs/a2a-server';
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
  SessionCookies,
} from '#libs/access';
import { AgentCatalog, BuiltInAgents } from '#libs/agents';
import { registerAguiRoutes } from '#libs/agui';
import { GatewayAdapter, GatewaySocket } from '#libs/event-gateway';
import { CancelPoller, TaskRecovery } from '#libs/executor';
import {
  acceptStreamedBodies,
  type BodyTurn,
  corsOptions,
  createProblem,
  endReadsOfGoneClients,
  FrameRoom,
  jsonBodyParser,
  refuseOtherMethods,
  requestTimes,
  requestTrace,
  ServiceAddress,
  SigningKeys,
  streamsBody,
  toProblem,
} from '#libs/http-server';
import { Jobs } from '#libs/job-queue';
import { registerMcpRoutes } from '#libs/mcp-server';
import { Plugins } from '#libs/nodes';
import { ReplicaSignals } from '#libs/postgres';
import { A2AError } from '#libs/protocol';
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
import { serveDocumentation } from './api-document.js';
import { AppModule } from './app.module.js';
import { startLines } from './start-lines.js';
import { hasConsole, serveConsole } from './web-pages.js';

const OF_AGENTS = /^\/a2a(?=[/?]|$)/;

/**
 * Adds the security headers for browsers to every answer, except below `/a2a`: no browser renders those answers, and
 * they have only the headers of the protocol.
 */
function setBrowserHeaders(fastify: FastifyInstance): void {
  // Only the proxy that terminates TLS knows whether a name is served with TLS alone.
  const set = helmet({ contentSecurityPolicy: false, strictTransportSecurity: false });
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    if (OF_AGENTS.test(raw.url ?? '')) done();
    else set(raw, reply.raw, done as (error?: unknown) => void);
  });
}

/**
 * Removes the parser of `text/plain`, so that `application/json` is the only accepted type of bodies, even where a body
 * is ignored; any other type is refused with 415. Pages of any origin can send the content types of HTML forms
 * without a preflight request. Call this function before routes are registered, on a server without Nest's parsers.
 */
function acceptJsonBodies(fastify: FastifyInstance): void {
  fastify.removeContentTypeParser('text/plain');
}

/**
 * Refuses compressed bodies without reading them: 415, with the accepted coding in `Accept-Encoding` (RFC 9110,
 * sections 12.5.3 and 15.5.16). A small compressed body can expand without limit.
 */
function refuseCodedBodies(fastify: FastifyInstance): void {
  fastify.addHook('preParsing', ({ headers }, reply, payload, done) => {
    if (headers['content-encoding'] === undefined || !isCoded(headers)) return done(null, payload);
    void reply.header('accept-encoding', 'identity');
    const message = 'The request body must not be compressed: its Content-Encoding is not supported';
    done(new A2AError('INVALID_REQUEST', { message, detailReason: 'CONTENT_CODING_NOT_SUPPORTED', status: 415 }));
  });
}

function isCoded(headers: IncomingHttpHeaders): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody && headers['content-encoding']?.trim().toLowerCase() !== 'identity';
}

/** Maximum declared length of a refused body that is still read, in bytes. A longer body is refused unread. */
const MOST_DRAINED = 64 * 1024 * 1024;
/** Maximum milliseconds for reading the body of a refused request. */
const LONGEST_MS = 10_000;

/**
 * Reads a body to its end before it is refused because its declared length exceeds `limit`: otherwise a client that is
 * still sending sees no answer, only a broken connection. The bytes are dropped. Bodies above MOST_DRAINED are not
 * read; streamed bodies have their own limits.
 */
function drainOversizedBodies(fastify: FastifyInstance, limit: number): void {
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    if (streamsBody(request)) return done(null, payload);
    const length = Number(request.headers['content-length']);
    if (!(length > limit && length <= MOST_DRAINED)) return done(null, payload);
    const signal = AbortSignal.timeout(LONGEST_MS);
    finished((payload as Readable).resume(), { signal, writable: false }, () => done(null, payload));
  });
}

/** Value of `Retry-After`, in seconds. A database failover, or the start or stop of a replica, usually takes less. */
const SECONDS = '2';

/** Adds `Retry-After` (SECONDS) to every 503 response that has none (RFC 9110, section 10.2.3). */
function addRetryAfter(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.statusCode === 503 && !reply.hasHeader('retry-after')) void reply.header('retry-after', SECONDS);
    done();
  });
}

const STATUSES: Readonly<Record<string, [status: number, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large'],
};

/**
 * Answers input that is not an HTTP request, or was not received in time; no route sees it. The error has the form of
 * A2A if the address is readable and below `/a2a`, else it is a problem document.
 */
function answerUnreadableRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [status, detail] = STATUSES[error.code ?? ''] ?? [400, 'This is no HTTP request'];
  const [type, body] = A2A.test(beginningOf(error))
    ? (['application/a2a+json', a2aBody(status, detail)] as const)
    : ([
        'application/problem+json',
        JSON.stringify({ ...createProblem(status, detail), requestId: randomUUID() }),
      ] as const);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
  ];
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
}

/**
 * Returns the start of the last packet that the HTTP parser read. It contains the request line if the faulty part
 * arrived in the same packet as that line.
 */
function beginningOf(error: Error): string {
  const { rawPacket } = error as Error & { rawPacket?: unknown };
  return Buffer.isBuffer(rawPacket) ? rawPacket.subarray(0, 64).toString('latin1') : '';
}

const A2A = /^[A-Z]+ \/a2a[/? ]/;

function a2aBody(status: number, message: string): string {
  const error = new A2AError('INVALID_REQUEST', { message, status });
  return JSON.stringify({ error: { code: status, status: error.grpc, message, details: error.toDetails() } });
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Handles SIGTERM and SIGINT before the application exists. A signal waits for the start to finish, at most the grace
 * time, so that the service can be stopped in order; after that time the process ends what it has started without
 * further waiting. The exit code is 0, as after any other stop.
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
 * Releases the memory that only the start of the process needed, about a quarter of its memory. Otherwise V8 would
 * collect old objects only after the heap has doubled. The process stalls for some 70 ms, and compiled code is released
 * too, so call it before the first request.
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

/** Values of LOG_LEVEL that make the start print its main settings. */
const TALKATIVE: ReadonlySet<LogLevel> = new Set(['info', 'debug', 'trace']);

/** Service that listens on its port. */
interface ListeningService {
  /** Base URL of the service. */
  url: string;
  /** Port of gRPC; absent if gRPC is off. */
  grpcPort?: number;
  plugins: readonly string[];
  remarks: readonly string[];
}

/**
 * Starts the service and reports that in one line on standard output, followed by its main settings unless LOG_LEVEL is
 * above info. An invalid configuration ends the process with one line per variable on standard error, and exit code 1.
 */
export async function startService(environment: Environment): Promise<void> {
  try {
    const config = loadConfig(environment);
    const { url, grpcPort, ...state } = await startedOn(config, new EarlyStop(config));
    // A reader of the ready line may close the pipe, which does not end the service.
    process.stdout.on('error', () => undefined);
    const reached = { url, grpcPort, hasConsole: hasConsole(), ...state };
    const more = TALKATIVE.has(config.logLevel) ? startLines(config, reached) : [];
    process.stdout.write([`Parley is ready on ${url}`, ...more, ''].join('\n'));
  } catch (error) {
    const lines = error instanceof ConfigError ? error.lines : [`Parley could not start: ${(error as Error).message}`];
    process.stderr.write(`${lines.join('\n')}\n`);
    process.exit(1);
  }
}

/**
 * Creates the application and listens. If the start fails, or a signal stops it, first stops the parts that have
 * started, including the embedded database; then throws the error or ends the process.
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

/** Creates the application with its routes and hooks. The caller then lets it listen. */
async function createApp(config: AppConfig): Promise<NestFastifyApplication> {
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
    cookies: app.get(SessionCookies),
  });
  refuseOtherMethods(fastify);
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
  const sockets = app.get(GatewaySocket);
  app.useWebSocketAdapter(new GatewayAdapter(sockets));
  sockets.attachTo(app.getHttpServer());
}

/** Registers A2A, MCP and AG-UI, whose routes are not controllers (ADR 4). */
function serveAgents(app: NestFastifyApplication, { content, auth, cards }: AppConfig, bodyTurn: BodyTurn): void {
  const fastify = app.getHttpAdapter().getInstance();
  const handler = app.get(RequestHandler);
  const address = app.get(ServiceAddress);
  const catalog = app.get(AgentCatalog);
  const isPersonal = app.get(Authentication).required;
  const a2a = registerA2aRoutes(fastify, {
    handler,
    catalog,
    address,
    jsonMembers: content.jsonMembers,
    bodyTurn,
  });
  registerAiCatalogRoutes(fastify, {
    catalog,
    address,
    isPersonal,
    maxAgeMs: cards.maxAgeMs,
    ...(cards.signing && { signer: new CatalogSigner(app.get(SigningKeys)) }),
  });
  const mcp = registerMcpRoutes(fastify, {
    handler,
    address,
    tasks: app.get(TaskStore),
    questions: app.get(TaskQuestions),
    agents: app.get(BuiltInAgents),
    signals: app.get(ReplicaSignals),
    jsonMembers: content.jsonMembers,
    isPersonal,
    ...(auth.jwt && { issuer: auth.jwt.issuer }),
  });
  registerAguiRoutes(fastify, { handler, address, tasks: app.get(TaskStore), shutdown: app.get(Shutdown) });
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
 * Answers an address that the router cannot parse, before any route. The error has the form of A2A if the address
 * begins with `/a2a`, else it is a problem document.
 */
function refuseAddress(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  if (request.url.startsWith('/a2a')) return answerUnreadableAddress(request, reply);
  const problem = { ...toProblem(error), requestId: String(request.id), ...requestTrace(request.raw) };
  void reply.code(problem.status).header('content-type', 'application/problem+json').send(JSON.stringify(problem));
}

/** Listens; then starts to adopt the work that other processes left, to poll for cancels, and to run jobs. */
async function listenAndRecover(app: NestFastifyApplication, config: AppConfig): Promise<ListeningService> {
  await app.listen(config.port, config.host);
  const url = (await app.getUrl()).replace('[::1]', 'localhost');
  app.get(ServiceAddress).setBoundUrl(url);
  const grpcPort = await app.get(GrpcServer).listenIfConfigured();
  app.get(TaskRecovery).start();
  app.get(CancelPoller).start();
  app.get(Jobs).start();
  app.get(Readiness).started = true;
  const remarks = app.get(Readiness).collectRemarks();
  return {
    url,
    ...(grpcPort !== undefined && { grpcPort }),
    plugins: app.get(Plugins).loaded,
    remarks: remarks.flatMap(([, remark]) => remark ?? []),
  };
}

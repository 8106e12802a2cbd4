import type { McpHttpHandler, Server, ServerContext } from '@modelcontextprotocol/server';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { admitStream, callerOf, scopeOf, setRetryAfter } from '#libs/access';
import { type ServedAgent, UnknownAgent } from '#libs/agents';
import { readIdempotencyKey } from '#libs/executor';
import { refuseUnfitJson, type ServiceAddress } from '#libs/http-server';
import { A2AError, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { inboundTrace } from '#libs/service';
import { agentArgumentFault, agentToolName, isRegisteredPath } from './agent-tools.js';
import {
  type ClientSupport,
  declaredSupport,
  type McpBackend,
  McpExchange,
  sessionOf,
  sessionSupport,
  SHUTTING_DOWN,
  TASKS_EXTENSION,
} from './exchange.js';
import { INVALID_PARAMS, INVALID_REQUEST, mcpError, McpError, missingExtension } from './mcp-error.js';
import { cancelTask, failureResult, getTask, updateTask } from './mcp-tasks.js';
import type { Elicitation } from './questions.js';
import { parseElicitationId, type ProgressNotification, ProgressNotifier, WorkflowCall } from './workflow-call.js';
import { callMessage, toolPath, toolsOf } from './workflow-tools.js';

type Sdk = typeof import('@modelcontextprotocol/server');

const TASK = z.looseObject({ taskId: z.string().max(200) });

/** Key of `authInfo.extra` under which the SDK passes the McpExchange on to handlers. */
const EXCHANGE = 'exchange';

/** Answers MCP requests with the official SDK. The SDK is loaded on the first request. */
class McpService {
  private loaded: Promise<McpHttpHandler> | undefined;

  async answerRequest(request: Request, body: unknown, exchange: McpExchange): Promise<Response> {
    this.loaded ??= loadHandler();
    const { fetch } = await this.loaded;
    const authInfo = { token: '', clientId: exchange.call.scope.owner, scopes: [], extra: { [EXCHANGE]: exchange } };
    return fetch(request, { parsedBody: body, authInfo });
  }
}

async function loadHandler(): Promise<McpHttpHandler> {
  const sdk = await import('@modelcontextprotocol/server');
  return sdk.createMcpHandler(({ authInfo, era }) =>
    createServerFor(sdk, authInfo?.extra?.[EXCHANGE] as McpExchange, era),
  );
}

/** Creates the server object of the SDK for one request, with its handlers. */
function createServerFor(sdk: Sdk, exchange: McpExchange, era: 'modern' | 'legacy'): Server {
  const { name, version } = exchange.agent;
  const extensions = era === 'modern' && { extensions: { [TASKS_EXTENSION]: {} } };
  const server = new sdk.Server({ name, version }, { capabilities: { tools: {}, ...extensions } });
  const supportOf = ({ mcpReq }: ServerContext): ClientSupport =>
    era === 'modern'
      ? declaredSupport((mcpReq.envelope as JsonObject | undefined)?.[sdk.CLIENT_CAPABILITIES_META_KEY])
      : sessionSupport(exchange.session);
  const answerOrFail = <T>(answer: () => Promise<T>): Promise<T> =>
    answer().catch((error: unknown) => failRequest(exchange, error));

  server.setRequestHandler('tools/list', ({ params }) =>
    answerOrFail(
      async () =>
        ({
          ...(await toolsOf(exchange.agent, exchange.agentTools, params?.cursor)),
          ttlMs: 0,
          cacheScope: 'private',
        }) as never,
    ),
  );
  server.setRequestHandler('tools/call', ({ params }, context) =>
    answerOrFail(async () => (await callTool(exchange, server, params, context, supportOf(context))) as never),
  );
  if (era === 'legacy') return server;
  type TaskRequest = (taskId: string, replies: Record<string, unknown>) => Promise<JsonObject>;
  const onTask = (method: string, does: TaskRequest): void =>
    server.setRequestHandler(method, { params: TASK, result: z.looseObject({}) }, ({ taskId }, context) =>
      answerOrFail(async () => {
        if (!supportOf(context).tasks) throw missingExtension(TASKS_EXTENSION);
        // The SDK moves the replies from the parameters to `inputResponses`.
        return does(taskId, context.mcpReq.inputResponses ?? {});
      }),
    );
  onTask('tasks/get', (taskId) => getTask(exchange, taskId));
  onTask('tasks/update', (taskId, replies) => updateTask(exchange, taskId, replies));
  onTask('tasks/cancel', (taskId) => cancelTask(exchange, taskId));
  return server;
}

interface CallParams {
  name: string;
  arguments?: Record<string, unknown>;
}

async function callTool(
  exchange: McpExchange,
  server: Server,
  params: CallParams,
  { mcpReq }: ServerContext,
  support: ClientSupport,
): Promise<JsonObject> {
  const agent = await toolAgent(exchange, params.name);
  const meta = (mcpReq._meta ?? {}) as JsonObject;
  const { progressToken } = meta;
  const sendProgress = (progress: ProgressNotification): Promise<void> =>
    mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...progress } } as never);
  using progress = new ProgressNotifier(progressToken === undefined ? undefined : sendProgress);
  const sendElicitation = async (id: string, elicitation: Elicitation): Promise<void> =>
    server.transport?.send({ jsonrpc: '2.0', id, ...elicitation } as never, { relatedRequestId: mcpReq.id });
  const call = new WorkflowCall(exchange, agent, { support, progress, askClient: sendElicitation });
  const state = mcpReq.requestState();
  if (typeof state === 'string') return call.resumeCall(state, mcpReq.inputResponses ?? {});
  const args = readArguments(params);
  const fault = isRegisteredPath(agent.path) ? agentArgumentFault(args) : undefined;
  if (fault !== undefined) return failureResult(fault);
  return call.beginCall(await callMessage(agent, args, meta, exchange.call.idempotencyKey));
}

/**
 * Returns the agent of a tool.
 * @throws McpError if the name is invalid, or the endpoint does not offer the tool
 * @throws the error of `resolveAgent` if there is no such agent
 */
async function toolAgent(exchange: McpExchange, name: string): Promise<ServedAgent> {
  const { backend, agent } = exchange;
  const path = toolPath(name);
  const isHere = agent.path === '' || agent.path === path;
  if (!isHere) {
    const kind = isRegisteredPath(path) ? 'agent' : 'workflow';
    throw mcpError(new UnknownAgent(`${kind} "${name}" not found`, 'AGENT_NOT_FOUND', { [kind]: name }));
  }
  return agent.path === path ? agent : backend.handler.resolveAgent(exchange.callAt(path));
}

function readArguments({ arguments: given = {} }: CallParams): JsonObject {
  const args = given as JsonValue;
  if (isJsonObject(args)) return args;
  throw new McpError(INVALID_PARAMS, 'arguments: must be an object');
}

/**
 * Converts an error to an McpError for the client and throws it. If its status is 503, sets `exchange.failed`, so that
 * the HTTP response gets this status too.
 */
function failRequest(exchange: McpExchange, error: unknown): never {
  const known = mcpError(error);
  if (known.status === 503) {
    exchange.failed = {
      status: 503,
      error: error instanceof A2AError ? error : new A2AError('INTERNAL', { status: 503 }),
    };
  }
  throw known;
}

/** Path prefix of the metadata of a protected resource (RFC 9728). */
const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';

/** Returns the metadata of an MCP endpoint: the issuer of tokens and the required scope (RFC 9728). */
function protectedResource(baseUrl: string, path: string, issuer: string): JsonObject {
  return {
    resource: `${baseUrl}${path}`,
    authorization_servers: [issuer],
    scopes_supported: ['agents'],
    bearer_methods_supported: ['header'],
  };
}

/** Returns the parameter of a `www-authenticate` challenge that points to the metadata. */
function resourceMetadata(baseUrl: string, path: string): string {
  return `resource_metadata="${baseUrl}${PROTECTED_RESOURCE}${path}"`;
}

export interface McpRoutesOptions extends McpBackend {
  address: Pick<ServiceAddress, 'publicBaseUrl'>;
  /** Issuer of access tokens, if an identity provider authenticates callers. */
  issuer?: string;
}

/** Routes of MCP, which must be ended at shutdown. */
export interface McpRoutes {
  /** Ends every open request. Runs continue on other replicas. */
  endStreams(): void;
}

const PATHS = ['/mcp', '/mcp/workflows/:workflow', '/mcp/agents/:agent'] as const;
/** Pattern of the request headers that are passed on to the SDK. */
const PASSED_ON = /^(accept|content-type|mcp-.*)$/;

/**
 * Registers the routes of MCP over Streamable HTTP, with workflows and registered agents as tools: all at `/mcp`, one
 * at `/mcp/workflows/{name}` or `/mcp/agents/{name}`. The routes are a Fastify plugin with an error handler of its own.
 * Call the function before the server is ready.
 */
export function registerMcpRoutes(fastify: FastifyInstance, options: McpRoutesOptions): McpRoutes {
  const endpoint = new McpRouteHandler(options);
  void fastify.register((scope, _options, done) => {
    scope.setErrorHandler((error, request, reply) => endpoint.refuseRequest(error, request, reply));
    for (const path of PATHS) {
      scope.post(path, (request, reply) => endpoint.handleRequest(request, reply));
      // GET would open the stream of a session, and DELETE would end a session. This endpoint keeps no sessions.
      for (const method of ['GET', 'DELETE'] as const) scope.route({ method, url: path, handler: refuseMethod });
      if (options.issuer !== undefined) {
        scope.get(`${PROTECTED_RESOURCE}${path}`, (request) => endpoint.describeResource(request));
      }
    }
    done();
  });
  return { endStreams: () => endpoint.endStreams() };
}

/** Request whose response has not ended. */
interface OpenRequest {
  /** Controller that aborts when the client has left. On shutdown, it aborts only if `isEndless`. */
  gone: AbortController;
  /** Controller that aborts when the client has left, and on shutdown. */
  over: AbortController;
  /** True for `subscriptions/listen`, whose stream never ends by itself. */
  isEndless: boolean;
}

class McpRouteHandler {
  private readonly service = new McpService();
  private readonly open = new Set<OpenRequest>();

  constructor(private readonly options: McpRoutesOptions) {}

  /** Ends all open requests: a call returns its task or error 503, a subscription ends. */
  endStreams(): void {
    for (const { gone, over, isEndless } of this.open) {
      over.abort(SHUTTING_DOWN);
      if (isEndless) gone.abort(SHUTTING_DOWN);
    }
  }

  async handleRequest(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const body = readBody(request.body);
    const { gone, over } = this.trackRequest(reply, body['method'] === 'subscriptions/listen');
    const exchange = await this.createExchange(request, reply, over.signal);
    if (!('method' in body)) return this.receiveAnswer(exchange, body, reply);
    if (mayStream(body)) admitStream(reply);
    const response = await this.service.answerRequest(this.webRequest(request, gone.signal), body, exchange);
    const { failed } = exchange;
    const session = body['method'] === 'initialize' && isJsonObject(body['params']) && sessionOf(body['params']);
    if (session) void reply.header('mcp-session-id', session);
    if (failed && isJson(response)) {
      setRetryAfter(failed.error, reply);
      return reply.send(new Response(response.body, { status: failed.status, headers: response.headers }));
    }
    return reply.send(response);
  }

  /** Answers an error that occurs before the SDK has a result: as a JSON-RPC error with an HTTP status. */
  refuseRequest(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const shown = mcpError(transportError(error));
    const challenge = reply.getHeader('www-authenticate');
    if (typeof challenge === 'string' && this.options.issuer !== undefined) {
      void reply.header(
        'www-authenticate',
        `${challenge}, ${resourceMetadata(this.baseUrl(request), requestPath(request))}`,
      );
    }
    setRetryAfter(error, reply);
    const status = shown.status < 400 ? 400 : shown.status;
    return reply
      .code(status)
      .header('content-type', 'application/json')
      .send(JSON.stringify(rpcError(request, shown)));
  }

  describeResource(request: FastifyRequest): JsonObject {
    return protectedResource(
      this.baseUrl(request),
      requestPath(request).slice(PROTECTED_RESOURCE.length),
      this.options.issuer ?? '',
    );
  }

  private trackRequest({ raw }: FastifyReply, isEndless: boolean): OpenRequest {
    const tracked = { gone: new AbortController(), over: new AbortController(), isEndless };
    this.open.add(tracked);
    raw.once('close', () => {
      this.open.delete(tracked);
      tracked.gone.abort();
      tracked.over.abort();
    });
    return tracked;
  }

  /**
   * Passes the answer to an elicitation on to the Task that asked. This or another replica sent the elicitation in a
   * stream.
   * @throws McpError if the id of the answer is not the id of an elicitation
   */
  private async receiveAnswer(exchange: McpExchange, body: JsonObject, reply: FastifyReply): Promise<FastifyReply> {
    const { id, result } = body;
    const asked = parseElicitationId(id);
    if (!asked) throw new McpError(INVALID_PARAMS, 'id: answers nothing that was asked here', 400);
    const task = await exchange.loadTask(asked.taskId);
    await exchange.answerTask(task, { [asked.key]: result });
    return reply.code(202).send();
  }

  private async createExchange(
    request: FastifyRequest,
    { raw }: FastifyReply,
    signal: AbortSignal,
  ): Promise<McpExchange> {
    const { workflow, agent } = request.params as { workflow?: string; agent?: string };
    const tool = agent === undefined ? workflow : agentToolName(agent);
    const { handler } = this.options;
    const key = request.headers['idempotency-key'];
    const trace = inboundTrace(request.headers);
    const call = {
      scope: scopeOf(request.raw),
      agent: tool === undefined ? '' : toolPath(tool),
      extensions: [],
      baseUrl: this.baseUrl(request),
      ...(trace !== undefined && { trace }),
      whenAnswered: (done: () => void) => !raw.closed && raw.once('close', done) === raw,
      ...(key !== undefined && { idempotencyKey: readIdempotencyKey(key) }),
    };
    const session = request.headers['mcp-session-id'];
    const inbound = { permissions: callerOf(request.raw).permissions, headers: request.headers };
    const exchange = { call, inbound, signal, session: session?.toString() };
    return new McpExchange(this.options, await handler.resolveAgent(call), exchange);
  }

  /** Converts a Fastify request for the SDK, without its body: the SDK gets the parsed body separately. */
  private webRequest(request: FastifyRequest, signal: AbortSignal): Request {
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      PASSED_ON.test(name) && value !== undefined ? [[name, String(value)]] : [],
    );
    return new Request(`${this.baseUrl(request)}${requestPath(request)}`, { method: 'POST', headers, signal });
  }

  private baseUrl({ raw }: FastifyRequest): string {
    return this.options.address.publicBaseUrl(raw);
  }
}

function requestPath({ url }: FastifyRequest): string {
  return url.split('?', 1)[0]?.replace(/\/$/, '') ?? '';
}

/**
 * Returns the body as one JSON-RPC message.
 * @throws McpError if the body is not an object; batches are rejected too, as the supported revisions of MCP have none
 * @throws the error of `refuseUnfitJson`
 */
function readBody(body: unknown): JsonObject {
  refuseUnfitJson(body);
  if (isJsonObject(body as JsonValue)) return body as JsonObject;
  const what = Array.isArray(body) ? 'Batches are not supported: send one message' : 'The body must be a JSON object';
  throw new McpError(INVALID_REQUEST, what, 400);
}

/** True if the response may be a stream. The response to a call of the revision 2025-11-25 always is. */
function mayStream({ method, params }: JsonObject): boolean {
  if (method === 'subscriptions/listen') return true;
  if (method !== 'tools/call' || !isJsonObject(params)) return false;
  const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
  const isModern = Object.keys(meta).some((name) => name.startsWith('io.modelcontextprotocol/'));
  return !isModern || meta['progressToken'] !== undefined;
}

function refuseMethod(_request: FastifyRequest, reply: FastifyReply): never {
  void reply.header('allow', 'POST');
  throw new McpError(INVALID_REQUEST, 'Method not allowed: send POST', 405);
}

function isJson({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('application/json') === true;
}

function rpcError({ body }: FastifyRequest, { code, message, data }: McpError): JsonObject {
  const id = isJsonObject(body as JsonValue) ? (body as JsonObject)['id'] : undefined;
  const isId = typeof id === 'string' || typeof id === 'number';
  return { jsonrpc: '2.0', id: isId ? id : null, error: { code, message, ...(data !== undefined && { data }) } };
}

/**
 * Converts an error that Fastify raised before a handler ran. An error of the client becomes an McpError with the same
 * status and text, as the text shows no internals of this service. Any other error is returned unchanged.
 */
function transportError(error: unknown): unknown {
  if (error instanceof A2AError || error instanceof McpError) return error;
  const { statusCode, message } = error as Partial<FastifyError>;
  const { status = statusCode } = error as { status?: unknown };
  if (typeof status !== 'number' || status < 400 || status >= 500) return error;
  return new McpError(INVALID_REQUEST, message ?? 'Invalid request', status);
}

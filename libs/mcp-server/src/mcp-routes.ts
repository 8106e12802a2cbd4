import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { admitStream, callerOf, scopeOf, setRetryAfter } from '#libs/access';
import { readIdempotencyKey } from '#libs/executor';
import { refuseUnfitJson, type ServiceAddress } from '#libs/http-server';
import type { ReplicaSignals } from '#libs/postgres';
import { A2AError, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { inboundTrace, withinTime } from '#libs/service';
import { agentToolName } from './agent-tools.js';
import { DeclinedQuestions } from './declined-questions.js';
import { type McpBackend, McpExchange, sessionOf, SHUTTING_DOWN } from './exchange.js';
import { INVALID_PARAMS, INVALID_REQUEST, mcpError, McpError } from './mcp-error.js';
import { McpService } from './mcp-service.js';
import { isAccepted } from './questions.js';
import { registerServerCard } from './server-card.js';
import { elicitationId, parseElicitationId } from './workflow-call.js';
import { toolPath } from './workflow-tools.js';

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
  address: Pick<ServiceAddress, 'publicBaseUrl'> & Partial<Pick<ServiceAddress, 'variesBy'>>;
  /** True if clients must authenticate; the card of the server says so. */
  isPersonal?: boolean;
  /** Issuer of access tokens, if an identity provider authenticates callers. */
  issuer?: string;
  /** Signals to the other replicas; absent: there are none. */
  signals?: ReplicaSignals;
  /** Milliseconds until the response to a call without progress becomes a stream; default: STREAM_AFTER_MS. */
  streamAfterMs?: number;
}

/** Routes of MCP, which must be ended at shutdown. */
export interface McpRoutes {
  /** Ends every open request. Runs continue on other replicas. */
  endStreams(): void;
}

const PATHS = ['/mcp', '/mcp/workflows/:workflow', '/mcp/agents/:agent'] as const;
/**
 * Milliseconds until a call that asked for no progress is answered by a stream. Without the comments of that
 * stream, clients end a call after about 5 minutes of silence.
 */
const STREAM_AFTER_MS = 10_000;
/** Milliseconds between two comments of such a stream. */
const COMMENT_MS = 15_000;
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
    registerServerCard(scope, options);
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
  private readonly declined: DeclinedQuestions;

  constructor(private readonly options: McpRoutesOptions) {
    this.declined = new DeclinedQuestions(options.signals);
  }

  /**
   * Ends all open requests. A call returns a task of MCP if its client supports tasks, otherwise error 503. A
   * subscription ends its stream.
   */
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
    const answering = this.service.answerRequest(this.webRequest(request, gone.signal), body, exchange);
    const response = mayBecomeStream(body, request) ? await this.streamIfSlow(answering, reply) : await answering;
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
    const known = mcpError(transportError(error));
    // A DELETE may have a content type and no body, which cannot be parsed.
    const shown = request.method === 'DELETE' && known.status === 400 ? methodRefusal(reply) : known;
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

  /**
   * Returns the response to a call. If the response takes longer than `streamAfterMs`, returns a stream that sends
   * comments until it can send the response. Without the comments, a client that asked for no progress would close the
   * silent connection.
   */
  private async streamIfSlow(answering: Promise<Response>, reply: FastifyReply): Promise<Response> {
    const { streamAfterMs = STREAM_AFTER_MS } = this.options;
    if (
      await withinTime(
        answering.then(() => true),
        streamAfterMs,
      )
    )
      return answering;
    try {
      admitStream(reply);
    } catch {
      reply.removeHeader('retry-after');
      return answering;
    }
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
    return new Response(ReadableStream.from(lateAnswer(answering)).pipeThrough(new TextEncoderStream()), { headers });
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
   * A reply without an answer (declined, canceled, or an error) ends the call that asked, on whichever replica it is.
   * @throws McpError if the id of the answer is not the id of an elicitation
   */
  private async receiveAnswer(exchange: McpExchange, body: JsonObject, reply: FastifyReply): Promise<FastifyReply> {
    const { id, result } = body;
    const asked = parseElicitationId(id);
    if (!asked) throw new McpError(INVALID_PARAMS, 'id: answers nothing that was asked here', 400);
    const task = await exchange.loadTask(asked.taskId);
    if (isAccepted(result)) await exchange.answerTask(task, { [asked.key]: result });
    else if (task.questions.some(({ key }) => key === asked.key))
      this.declined.reportDeclined(elicitationId(asked.taskId, asked.key));
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
    const { declined } = this;
    const exchange = { call, inbound, signal, declined, session: session?.toString() };
    return new McpExchange(this.options, await handler.resolveAgent(call), exchange);
  }

  /** Converts a Fastify request for the SDK, without its body: the SDK gets the parsed body separately. */
  private webRequest(request: FastifyRequest, signal: AbortSignal): Request {
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      PASSED_ON.test(name) && value !== undefined ? [[name, String(value)]] : [],
    );
    const name = request.headers['mcp-name'] === undefined ? missingName(request) : undefined;
    if (name !== undefined) headers.push(['mcp-name', `=?base64?${Buffer.from(name).toString('base64')}?=`]);
    return new Request(`${this.baseUrl(request)}${requestPath(request)}`, { method: 'POST', headers, signal });
  }

  private baseUrl({ raw }: FastifyRequest): string {
    return this.options.address.publicBaseUrl(raw);
  }
}

/**
 * Returns the value that the header `Mcp-Name` must have in a request about a task, read from the body: the id of the
 * task. Returns `undefined` for other requests. Some clients (fastmcp) omit this header, and the SDK requires it.
 */
function missingName({ body }: FastifyRequest): string | undefined {
  const { method, params } = body as JsonObject;
  const taskId = isJsonObject(params) ? params['taskId'] : undefined;
  const isOfTask = typeof method === 'string' && method.startsWith('tasks/');
  return isOfTask && typeof taskId === 'string' ? taskId : undefined;
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

/**
 * True if a response that takes long may be sent as a stream: the client accepts streams, and the request is a tool
 * call of the revision 2026-07-28 that asks for no progress.
 */
function mayBecomeStream(body: JsonObject, { headers }: FastifyRequest): boolean {
  return body['method'] === 'tools/call' && !mayStream(body) && /text\/event-stream/.test(headers.accept ?? '');
}

/** Yields a comment every 15 seconds until a JSON response exists, and then the response as an event. */
async function* lateAnswer(answering: Promise<Response>): AsyncIterable<string> {
  const arrived = answering.then(() => true);
  do yield ': \n\n';
  while (!(await withinTime(arrived, COMMENT_MS)));
  const text = await (await answering).text();
  yield text.startsWith('{') ? `event: message\ndata: ${text}\n\n` : text;
}

function refuseMethod(_request: FastifyRequest, reply: FastifyReply): never {
  throw methodRefusal(reply);
}

/** Sets the header `Allow`, and returns the error for a method other than POST. */
function methodRefusal(reply: FastifyReply): McpError {
  void reply.header('allow', 'POST');
  return new McpError(INVALID_REQUEST, 'Method not allowed: send POST', 405);
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

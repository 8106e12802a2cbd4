import type { McpHttpHandler, Server, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type ServedAgent, UnknownAgent } from '#libs/agents';
import { A2AError, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { agentArgumentFault, isRegisteredPath } from './agent-tools.js';
import { type ClientSupport, declaredSupport, type McpExchange, sessionSupport, TASKS_EXTENSION } from './exchange.js';
import { INVALID_PARAMS, mcpError, McpError, missingExtension } from './mcp-error.js';
import { cancelTask, failureResult, getTask, updateTask } from './mcp-tasks.js';
import type { Elicitation } from './questions.js';
import { type ProgressNotification, ProgressNotifier, WorkflowCall } from './workflow-call.js';
import { callMessage, toolPath, toolsOf } from './workflow-tools.js';

type Sdk = typeof import('@modelcontextprotocol/server');

const TASK = z.looseObject({ taskId: z.string().max(200) });

/** Key of the McpExchange in `authInfo.extra`, which the SDK passes on to handlers. */
const EXCHANGE = 'exchange';

/** Answers MCP requests with the official SDK. The SDK is loaded on the first request. */
export class McpService {
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
  // `await`, so that the progress is reported until the call has ended.
  if (typeof state === 'string') return await call.resumeCall(state, mcpReq.inputResponses ?? {});
  const args = readArguments(params);
  const fault = isRegisteredPath(agent.path) ? agentArgumentFault(args) : undefined;
  if (fault !== undefined) return failureResult(fault);
  return await call.beginCall(await callMessage(agent, args, meta, exchange.call.idempotencyKey));
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

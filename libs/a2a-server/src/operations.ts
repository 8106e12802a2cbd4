import type { CallContext, ServedAgent } from '#libs/agents';
import { A2AError } from '#libs/protocol';
import { PreconditionFailed } from '#libs/tasks';
import type { RequestHandler } from './request-handler.js';
import type { StreamItem, SubscriptionOptions } from './task-stream.js';
import {
  parseCancelTask,
  parseCreatePushConfig,
  parseGetExtendedAgentCard,
  parseGetTask,
  parseListPushConfigs,
  parseListTasks,
  parseOnePushConfig,
  parseSendMessage,
  parseSubscribeToTask,
  type RequestParser,
} from './validation/request-parsers.js';

type AtAgent = (
  handler: RequestHandler,
  call: CallContext,
  act: (agent: ServedAgent) => Promise<void>,
) => Promise<void>;

/** Operation with one answer. */
export interface UnaryOperation {
  kind: 'unary';
  /**
   * Runs a function with the agent that the call addresses: its newest revision or, for some operations, a cached
   * revision. If the function throws PreconditionFailed with the cached revision, runs it again with the newest.
   */
  at: AtAgent;
  /** Checks the parameters, runs the operation, and returns the answer as JSON. */
  answerJson(handler: RequestHandler, agent: ServedAgent, params: unknown, call: CallContext): Promise<string>;
  /**
   * Checks the parameters, runs the operation, and returns the answer as a value, for bindings that do not write it
   * as ProtoJSON.
   */
  runOperation(handler: RequestHandler, agent: ServedAgent, params: unknown, call: CallContext): Promise<unknown>;
}

/** Operation that answers with a stream. */
export interface StreamOperation {
  kind: 'stream';
  /**
   * Runs a function with the agent that the call addresses: its newest revision or, for some operations, a cached
   * revision. If the function throws PreconditionFailed with the cached revision, runs it again with the newest.
   */
  at: AtAgent;
  /** True if the operation accepts a cursor that resumes the stream. */
  resumable: boolean;
  /**
   * Opens the stream. Checks synchronously whether the agent streams (section 3.3.4), and the parameters; other
   * rejections are thrown by the first `next()`.
   * @throws PreconditionFailed if the agent is a cached revision (it has a `premise`) and does not stream, or the
   *   parameters are invalid: the caller then repeats the call with the newest revision
   */
  openStream(
    handler: RequestHandler,
    agent: ServedAgent,
    params: unknown,
    call: CallContext,
    options: SubscriptionOptions,
  ): AsyncIterable<StreamItem>;
}

export type A2aOperation = UnaryOperation | StreamOperation;

/** Operations of A2A 1.0 by their names in JSON-RPC and gRPC (section 5.3). */
export const OPERATIONS = {
  SendMessage: unaryOperation(
    parseSendMessage,
    (handler, agent, request, call) => handler.sendMessage(agent, request, call),
    withCachedAgent,
  ),
  SendStreamingMessage: streamOperation(
    false,
    parseSendMessage,
    (handler, agent, request, call, { signal }) => handler.sendStreamingMessage(agent, request, call, signal),
    withCachedAgent,
  ),
  GetTask: unaryOperation(
    parseGetTask,
    forTenantAgent((handler, agent, request, call) => handler.getTask(agent, request, call)),
    withCachedAgent,
  ),
  ListTasks: unaryOperation(
    parseListTasks,
    forTenantAgent((handler, agent, request, call) => handler.listTasks(agent, request, call)),
  ),
  CancelTask: unaryOperation(
    parseCancelTask,
    forTenantAgent((handler, agent, request, call) => handler.cancelTask(agent, request, call)),
  ),
  SubscribeToTask: streamOperation(
    true,
    parseSubscribeToTask,
    (handler, agent, request, call, options) => handler.subscribeToTask(agent, request, call, options),
    withCachedAgent,
  ),
  CreateTaskPushNotificationConfig: unaryOperation(
    parseCreatePushConfig,
    forTenantAgent((handler, agent, request, call) => handler.push.createConfig(agent, request, call)),
  ),
  GetTaskPushNotificationConfig: unaryOperation(
    parseOnePushConfig,
    forTenantAgent((handler, agent, request, call) => handler.push.getConfig(agent, request, call)),
  ),
  ListTaskPushNotificationConfigs: unaryOperation(
    parseListPushConfigs,
    forTenantAgent((handler, agent, request, call) => handler.push.listConfigs(agent, request, call)),
  ),
  DeleteTaskPushNotificationConfig: unaryOperation(
    parseOnePushConfig,
    forTenantAgent((handler, agent, request, call) => handler.push.deleteConfig(agent, request, call)),
  ),
  GetExtendedAgentCard: unaryOperation(
    parseGetExtendedAgentCard,
    forTenantAgent((handler, agent, _request, call) => handler.extendedAgentCard(agent, call)),
  ),
} satisfies Record<string, A2aOperation>;

function withCachedAgent(...[handler, call, act]: Parameters<AtAgent>): Promise<void> {
  return handler.withCachedAgent(call, act);
}

async function withNewestAgent(...[handler, call, act]: Parameters<AtAgent>): Promise<void> {
  await act(await handler.agentOfTasks(call));
}

type RunOperation<T> = (handler: RequestHandler, agent: ServedAgent, request: T, call: CallContext) => Promise<unknown>;

/** Returns a function that runs an operation with the agent that the request's `tenant` names, see `tenantAgent`. */
function forTenantAgent<T extends { tenant?: string }>(run: RunOperation<T>): RunOperation<T> {
  return async (handler, agent, request, call) => {
    const meant = await handler.agentOfTenant(agent, request, call);
    return run(handler, meant, request, meant === agent ? call : { ...call, agent: meant.path });
  };
}

function unaryOperation<T>(
  parse: RequestParser<T>,
  run: RunOperation<T>,
  at: AtAgent = withNewestAgent,
): UnaryOperation {
  return {
    kind: 'unary',
    at,
    answerJson: async (handler, agent, params, call) =>
      JSON.stringify(await run(handler, agent, parseRequest(parse, agent, params), call)),
    runOperation: async (handler, agent, params, call) => run(handler, agent, parseRequest(parse, agent, params), call),
  };
}

function streamOperation<T>(
  resumable: boolean,
  parse: RequestParser<T>,
  run: (
    handler: RequestHandler,
    agent: ServedAgent,
    request: T,
    call: CallContext,
    options: SubscriptionOptions,
  ) => AsyncIterable<StreamItem>,
  at: AtAgent = withNewestAgent,
): StreamOperation {
  return {
    kind: 'stream',
    at,
    resumable,
    openStream: (handler, agent, params, call, options) => {
      if (agent.capabilities?.streaming === false) {
        if (agent.premise) throw new PreconditionFailed();
        throw new A2AError('UNSUPPORTED_OPERATION', { message: 'This agent does not stream' });
      }
      return run(handler, agent, parseRequest(parse, agent, params), call, options);
    },
  };
}

/**
 * Parses an operation's parameters.
 * @throws PreconditionFailed for invalid parameters, if the agent is a cached revision (it has a `premise`)
 * @throws the error about the deletion (`gone`) for invalid parameters, if the agent was deleted
 */
function parseRequest<T>(parse: RequestParser<T>, { premise, gone }: ServedAgent, params: unknown): T {
  try {
    return parse(params);
  } catch (error) {
    throw premise ? new PreconditionFailed() : (gone ?? error);
  }
}

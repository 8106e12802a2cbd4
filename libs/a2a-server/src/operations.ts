import type { CallContext, ServedAgent } from '#libs/executor';
import { A2AError } from '#libs/protocol';
import { PremiseFailed } from '#libs/tasks';
import type { RequestHandler } from './request-handler.js';
import type { StreamItem } from './stream-item.js';
import type { SubscriptionOptions } from './task-subscription.js';
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
  /** Runs a function with the agent that the call addresses: its newest revision, or the cached one. */
  at: AtAgent;
  /** Checks the parameters, runs the operation, and returns the answer as JSON. */
  answer(handler: RequestHandler, agent: ServedAgent, params: unknown, call: CallContext): Promise<string>;
  /** Runs the operation and returns the answer as a value, for bindings that write it in another form. */
  result(handler: RequestHandler, agent: ServedAgent, params: unknown, call: CallContext): Promise<unknown>;
}

/** Operation that answers with a stream. */
export interface StreamOperation {
  kind: 'stream';
  /** Runs a function with the agent that the call addresses: its newest revision, or the cached one. */
  at: AtAgent;
  /** True if the operation accepts a returning reader's cursor. */
  resumable: boolean;
  /**
   * Opens the stream. Checks synchronously whether the agent streams (section 3.3.4), and the parameters; other
   * refusals are thrown by the first `next()`.
   * @throws PremiseFailed if the agent has a premise and does not stream: its newest revision may
   */
  open(
    handler: RequestHandler,
    agent: ServedAgent,
    params: unknown,
    call: CallContext,
    options: SubscriptionOptions,
  ): AsyncIterable<StreamItem>;
}

export type Operation = UnaryOperation | StreamOperation;

/** Operations of A2A 1.0 by their names in JSON-RPC and gRPC (section 5.3). */
export const OPERATIONS = {
  SendMessage: unary(
    parseSendMessage,
    (handler, agent, request, call) => handler.sendMessage(agent, request, call),
    atRecent,
  ),
  SendStreamingMessage: stream(
    false,
    parseSendMessage,
    (handler, agent, request, call, { signal }) => handler.sendStreamingMessage(agent, request, call, signal),
    atRecent,
  ),
  GetTask: unary(
    parseGetTask,
    ofMeant((handler, agent, request, call) => handler.getTask(agent, request, call)),
    atRecent,
  ),
  ListTasks: unary(
    parseListTasks,
    ofMeant((handler, agent, request, call) => handler.listTasks(agent, request, call)),
  ),
  CancelTask: unary(
    parseCancelTask,
    ofMeant((handler, agent, request, call) => handler.cancelTask(agent, request, call)),
  ),
  SubscribeToTask: stream(
    true,
    parseSubscribeToTask,
    (handler, agent, request, call, options) => handler.subscribeToTask(agent, request, call, options),
    atRecent,
  ),
  CreateTaskPushNotificationConfig: unary(
    parseCreatePushConfig,
    ofMeant((handler, agent, request, call) => handler.push.create(agent, request, call)),
  ),
  GetTaskPushNotificationConfig: unary(
    parseOnePushConfig,
    ofMeant((handler, agent, request, call) => handler.push.get(agent, request, call)),
  ),
  ListTaskPushNotificationConfigs: unary(
    parseListPushConfigs,
    ofMeant((handler, agent, request, call) => handler.push.list(agent, request, call)),
  ),
  DeleteTaskPushNotificationConfig: unary(
    parseOnePushConfig,
    ofMeant((handler, agent, request, call) => handler.push.delete(agent, request, call)),
  ),
  GetExtendedAgentCard: unary(
    parseGetExtendedAgentCard,
    ofMeant((handler, agent, _request, call) => handler.extendedAgentCard(agent, call)),
  ),
} satisfies Record<string, Operation>;

function atRecent(...[handler, call, act]: Parameters<AtAgent>): Promise<void> {
  return handler.atRecent(call, act);
}

async function atNewest(...[handler, call, act]: Parameters<AtAgent>): Promise<void> {
  await act(await handler.agentOfTasks(call));
}

type Run<T> = (handler: RequestHandler, agent: ServedAgent, request: T, call: CallContext) => Promise<unknown>;

/** Runs an operation with the agent that the request means. */
function ofMeant<T extends { tenant?: string }>(run: Run<T>): Run<T> {
  return async (handler, agent, request, call) => {
    const meant = await handler.meant(agent, request, call);
    return run(handler, meant, request, meant === agent ? call : { ...call, agent: meant.path });
  };
}

function unary<T>(parse: RequestParser<T>, run: Run<T>, at: AtAgent = atNewest): UnaryOperation {
  return {
    kind: 'unary',
    at,
    answer: async (handler, agent, params, call) =>
      JSON.stringify(await run(handler, agent, parsed(parse, agent, params), call)),
    result: async (handler, agent, params, call) => run(handler, agent, parsed(parse, agent, params), call),
  };
}

function stream<T>(
  resumable: boolean,
  parse: RequestParser<T>,
  run: (
    handler: RequestHandler,
    agent: ServedAgent,
    request: T,
    call: CallContext,
    options: SubscriptionOptions,
  ) => AsyncIterable<StreamItem>,
  at: AtAgent = atNewest,
): StreamOperation {
  return {
    kind: 'stream',
    at,
    resumable,
    open: (handler, agent, params, call, options) => {
      if (agent.capabilities?.streaming === false) {
        if (agent.premise) throw new PremiseFailed();
        throw new A2AError('UNSUPPORTED_OPERATION', { message: 'This agent does not stream' });
      }
      return run(handler, agent, parsed(parse, agent, params), call, options);
    },
  };
}

/** Parses the parameters. If the agent may have been deleted, that error takes precedence over a violation. */
function parsed<T>(parse: RequestParser<T>, { premise, gone }: ServedAgent, params: unknown): T {
  try {
    return parse(params);
  } catch (error) {
    throw premise ? new PremiseFailed() : (gone ?? error);
  }
}

import { randomBytes, randomUUID } from 'node:crypto';
import type { CallContext } from '#libs/agents';
import {
  type A2AError,
  type Message,
  PRE_1_0_SEND,
  readPre10SendParams,
  type Task,
  writePre10Task,
} from '#libs/protocol';
import { messageIdOf } from '../extensions.js';
import type { AgentBase } from '../http/call-context.js';
import type { RequestHandler } from '../request-handler.js';
import { parseSendMessage } from '../validation/request-parsers.js';

/** Converts an agent's direct Message to a completed Task, which the dialect requires. The Task is not stored. */
export function completedByReply(request: Message, reply: Message, taskId: string): Task {
  return {
    id: taskId,
    contextId: reply.contextId ?? request.contextId ?? randomUUID(),
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ artifactId: reply.messageId, parts: reply.parts }],
    history: [request],
  };
}

/**
 * True if a call uses the pre-1.0 dialect: `a2a.sendMessage` at any agent, and `SendMessage` without a protocol version
 * at the alias of a node.
 */
export function isPre10Call(base: AgentBase, method: string, version: string): boolean {
  return method === PRE_1_0_SEND || (base === 'alias' && method === 'SendMessage' && version === '');
}

const TEXTS: Readonly<Partial<Record<number, string>>> = {
  [-32700]: 'Parse error',
  [-32600]: 'Invalid Request',
  [-32601]: 'Method not found',
  [-32602]: 'Invalid params',
};

/**
 * Returns the text of an error in the pre-1.0 dialect. It does not name the invalid fields, which are in the error's
 * details.
 */
export function pre10Text(error: A2AError): string {
  return TEXTS[error.code] ?? error.message;
}

/** Adapter from `a2a.sendMessage`, with the shapes from before A2A 1.0, to SendMessage. */
export class Pre10Dialect {
  constructor(private readonly handler: RequestHandler) {}

  /**
   * Sends a Message and returns the Task as JSON in the shape of the dialect. At the alias of a node, new Tasks get ids
   * in the form of the dialect (`pre10TaskId`). At other agents they get ordinary ids.
   * @throws UnknownAgent before the parameters are checked
   */
  async sendMessage(base: AgentBase, params: unknown, call: CallContext): Promise<string> {
    const agent = await this.handler.resolveAgent(call);
    const request = parseSendMessage(readPre10SendParams(params, (metadata) => messageIdOf(call, metadata)));
    const named = base === 'alias' ? { ...call, newTaskId: pre10TaskId } : call;
    const answer = await this.handler.sendMessage(agent, request, named);
    const task = 'task' in answer ? answer.task : completedByReply(request.message, answer.message, pre10TaskId());
    return JSON.stringify(writePre10Task(task));
  }
}

/** Creates a Task id of the dialect: `task-` and 16 hexadecimal digits. */
function pre10TaskId(): string {
  return `task-${randomBytes(8).toString('hex')}`;
}

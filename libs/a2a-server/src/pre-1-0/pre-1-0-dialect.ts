import { randomBytes } from 'node:crypto';
import type { A2AError } from '#libs/protocol';
import type { CallContext } from '#libs/executor';
import type { AgentBase } from '../http/agent-base.js';
import { messageIdOf } from '../http/message-id.js';
import type { RequestHandler } from '../request-handler.js';
import { parseSendMessage } from '../validation/request-parsers.js';
import { completedByReply, fromPre10Params, toPre10Task } from './pre-1-0-shapes.js';

/**
 * Whether a call speaks the pre-1.0 dialect: `a2a.sendMessage`, or `SendMessage` without a protocol version, on the
 * alias of a node and nowhere else.
 */
export function isPre10Call(base: AgentBase, method: string, version: string): boolean {
  if (base !== 'alias') return false;
  return method === 'a2a.sendMessage' || (method === 'SendMessage' && version === '');
}

const TEXTS: Readonly<Partial<Record<number, string>>> = {
  [-32700]: 'Parse error',
  [-32600]: 'Invalid Request',
  [-32601]: 'Method not found',
  [-32602]: 'Invalid params',
};

/** The text of an error as the pre-1.0 dialect has it; the fields at fault are in its details. */
export function pre10Text(error: A2AError): string {
  return TEXTS[error.code] ?? error.message;
}

/** `a2a.sendMessage`: the shapes from before A2A 1.0 in front of the same operation. */
export class Pre10Dialect {
  constructor(private readonly handler: RequestHandler) {}

  /** The Task as JSON in the old shape. @throws UnknownAgent before the parameters are looked at */
  async sendMessage(params: unknown, call: CallContext): Promise<string> {
    const agent = await this.handler.agent(call);
    const request = parseSendMessage(fromPre10Params(params, (metadata) => messageIdOf(call, metadata)));
    const answer = await this.handler.sendMessage(agent, request, { ...call, newTaskId: pre10TaskId });
    const task = 'task' in answer ? answer.task : completedByReply(request.message, answer.message, pre10TaskId());
    return JSON.stringify(toPre10Task(task));
  }
}

/** The ids of that dialect: `task-` and 16 hexadecimal digits. */
function pre10TaskId(): string {
  return `task-${randomBytes(8).toString('hex')}`;
}

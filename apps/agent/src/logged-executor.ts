import { type AgentDeclaration, AgentExecutor, type CallContext, type RequestContext } from '#libs/executor';
import type { Message, SendMessageRequest } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { CallLog } from './call-log.js';

/** Delegates to another executor, after a line in the call log. */
export class LoggedExecutor extends AgentExecutor {
  override readonly recovery: 'restart' | 'fail';
  override readonly cancelGrace: number;
  override readonly declares: AgentDeclaration | undefined;

  constructor(
    private readonly executor: AgentExecutor,
    private readonly calls: CallLog,
  ) {
    super();
    this.recovery = executor.recovery;
    this.cancelGrace = executor.cancelGrace;
    this.declares = executor.declares;
  }

  override execute(context: RequestContext): AsyncIterable<TaskEvent> {
    this.calls.recordCall(context.userMessage, context);
    return this.executor.execute(context);
  }

  override replyDirectly(message: Message, call: CallContext): Message | undefined {
    const answer = this.executor.replyDirectly?.(message, call);
    if (answer !== undefined) this.calls.recordCall(message);
    return answer;
  }

  override async checkRequest(request: SendMessageRequest, call: CallContext): Promise<void> {
    await this.executor.checkRequest?.(request, call);
  }
}

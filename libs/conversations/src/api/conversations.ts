import { Injectable } from '@nestjs/common';
import type { ApiCall } from '#libs/access';
import { AgentCatalog, type CallContext, ExecutionRegistry, type ServedAgent } from '#libs/executor';
import { ProblemError } from '#libs/http';
import { A2AError, dataPart, isTerminalState, type JsonObject, userMessage } from '#libs/protocol';
import { begunTask, type StoredTask, type TaskScope, TaskStore } from '#libs/tasks';
import { CONVERSATIONS_PATH } from '../conversation-agent.js';
import { type CommandKind, ConversationCommands } from '../conversation-command.js';
import { readSettings } from '../conversation-metadata.js';
import { requestProblems } from '../conversation-request.js';
import { type ConversationView, conversationView } from '../conversation-view.js';
import { ConversationWaking } from './conversation-waking.js';

const ID = /^[\x21-\x7e]{1,200}$/;

/** Starts, shows and steers conversations. One is the Task of its agent; beside its log only commands are kept. */
@Injectable()
export class Conversations {
  constructor(
    private readonly catalog: AgentCatalog,
    private readonly executions: ExecutionRegistry,
    private readonly tasks: TaskStore,
    private readonly commands: ConversationCommands,
    private readonly waking: ConversationWaking,
  ) {}

  /**
   * Resolves with the conversation's id when it is durable; it goes on whatever becomes of the caller.
   * @throws ProblemError 400 and 422 naming the fields; A2AError 409 for another body under a known `Idempotency-Key`
   */
  async start(body: JsonObject, call: ApiCall, idempotencyKey?: string): Promise<string> {
    refuseProblems(body);
    const agent = await this.catalog.inTenant(call.scope.tenant).resolve(CONVERSATIONS_PATH);
    const context = callOf(agent, call);
    // Under a key the Message has the key's name, so that the same body is the same request.
    const fields = idempotencyKey === undefined ? {} : { messageId: idempotencyKey };
    const request = { message: userMessage([dataPart(body)], fields) };
    await agent.executor.check?.(request, context);
    const execution =
      idempotencyKey === undefined
        ? this.executions.begin(agent, request, context)
        : await this.executions.beginOnce(agent, request, context, idempotencyKey);
    await execution.accepted;
    return execution.taskId;
  }

  /**
   * The conversation with its Task as that began.
   * @throws ProblemError 404
   */
  async find(conversationId: string, scope: TaskScope): Promise<StoredTask> {
    const header = ID.test(conversationId) ? await this.tasks.header(conversationId, scope) : undefined;
    const task = header && (await begunTask(this.tasks, conversationId));
    if (!task || !readSettings(task.metadata)) throw new ProblemError(404, 'conversation not found');
    return { header, task };
  }

  /** @throws ProblemError 404 */
  async show(conversationId: string, scope: TaskScope): Promise<ConversationView> {
    const { header } = await this.find(conversationId, scope);
    const log = await this.tasks.events(conversationId, 0, header.lastSequence);
    return conversationView(
      header,
      log.map(({ event }) => event),
    );
  }

  /**
   * Cancels a conversation and the Task of the agent that is at work for it. Canceling a canceled one answers the same.
   * @throws ProblemError 404; 409 for one that has ended otherwise
   */
  async cancel(conversationId: string, call: ApiCall): Promise<ConversationView> {
    const stored = await this.find(conversationId, call.scope);
    if (!isTerminalState(stored.header.state)) await this.cancelRunning(stored, call);
    const view = await this.show(conversationId, call.scope);
    if (view.outcome !== 'canceled') throw hasEnded(view);
    return view;
  }

  /**
   * Wants something of a conversation: it is done before the next turn, wherever the conversation goes on. Resolves when
   * that is durable.
   * @throws ProblemError 404; 409 for a conversation that has ended
   */
  async command(conversationId: string, kind: CommandKind, call: ApiCall, text?: string): Promise<void> {
    const view = await this.show(conversationId, call.scope);
    if (view.status === 'complete') throw hasEnded(view);
    await this.commands.add(conversationId, { kind, ...(text !== undefined && { text }) });
    // One that is at work carries it out; one that is about to wait looks once more when it does (ConversationWaking).
    if (kind !== 'pause') await this.waking.wake(conversationId, call);
  }

  private async cancelRunning(stored: StoredTask, call: ApiCall): Promise<void> {
    const agent = await this.waking.agentOf(stored);
    try {
      await this.executions.cancel(agent, stored.header.taskId, callOf(agent, call));
    } catch (error) {
      // It ended in the meantime: what it ended as decides the answer.
      if (!(error instanceof A2AError) || error.reason !== 'TASK_NOT_CANCELABLE') throw error;
    }
  }
}

function refuseProblems(body: JsonObject): void {
  const problems = requestProblems(body);
  if (problems.length === 0) return;
  const status = problems.every(({ range }) => range) ? 422 : 400;
  const entries = problems.map(({ field, description }) => ({ path: field, detail: description }));
  throw new ProblemError(status, entries.map(({ path, detail }) => `${path}: ${detail}`).join('; '), entries);
}

function hasEnded({ outcome }: ConversationView): ProblemError {
  return new ProblemError(409, `the conversation has ended: ${outcome}`);
}

function callOf(agent: ServedAgent, { scope, baseUrl }: ApiCall): CallContext {
  return { scope, agent: agent.path, extensions: [], baseUrl };
}

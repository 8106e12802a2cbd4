import { Injectable, Logger } from '@nestjs/common';
import type { ApiCall } from '#libs/access';
import { AgentCatalog, type CallContext, ExecutionRegistry, REVISION_KEY, type ServedAgent } from '#libs/executor';
import { ProblemError, Shutdown } from '#libs/platform';
import { A2AError, dataPart, isTerminalState, isWaitingState, type JsonObject, userMessage } from '#libs/protocol';
import { type StoredTask, TaskFeed, type TaskScope, TaskStore } from '#libs/tasks';
import { CONVERSATIONS_PATH } from '../conversation-agent.js';
import { type CommandKind, ConversationCommands } from '../conversation-command.js';
import { readSettings } from '../conversation-metadata.js';
import { requestProblems } from '../conversation-request.js';
import { ConversationState, WAKE_KEY } from '../conversation-state.js';
import { type ConversationView, conversationView } from '../conversation-view.js';

/** More events than a conversation can have. */
const MOST_EVENTS = 100_000;
const ID = /^[\x21-\x7e]{1,200}$/;

/** Starts, shows and steers conversations. One is the Task of its agent; beside its log only commands are kept. */
@Injectable()
export class Conversations {
  private readonly logger = new Logger(Conversations.name);

  constructor(
    private readonly catalog: AgentCatalog,
    private readonly executions: ExecutionRegistry,
    private readonly tasks: TaskStore,
    private readonly feed: TaskFeed,
    private readonly commands: ConversationCommands,
    private readonly shutdown: Shutdown,
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

  /** @throws ProblemError 404 */
  async find(conversationId: string, scope: TaskScope): Promise<StoredTask> {
    const stored = ID.test(conversationId) ? await this.tasks.load(conversationId, scope) : undefined;
    if (!stored || !readSettings(stored.task.metadata)) throw new ProblemError(404, 'conversation not found');
    return stored;
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
    const number = await this.commands.add(conversationId, { kind, ...(text !== undefined && { text }) });
    if (kind === 'pause') return;
    if (!(await this.wake(conversationId, call))) void this.wakeLater(conversationId, number, call);
  }

  private async cancelRunning(stored: StoredTask, call: ApiCall): Promise<void> {
    const agent = await this.agentOf(stored);
    try {
      await this.executions.cancel(agent, stored.header.taskId, callOf(agent, call));
    } catch (error) {
      // It ended in the meantime: what it ended as decides the answer.
      if (!(error instanceof A2AError) || error.reason !== 'TASK_NOT_CANCELABLE') throw error;
    }
  }

  /** Goes on with a paused conversation; `false` where none waits. */
  private async wake(conversationId: string, call: ApiCall): Promise<boolean> {
    const stored = await this.find(conversationId, call.scope);
    if (!isWaitingState(stored.header.state)) return false;
    const agent = await this.agentOf(stored);
    const message = userMessage('Go on.', { metadata: { [WAKE_KEY]: true } });
    try {
      await (
        await this.executions.resume(agent, conversationId, { message }, callOf(agent, call))
      ).accepted;
      return true;
    } catch (error) {
      // Somebody else woke it: whoever executes it finds the command.
      if (error instanceof A2AError && error.reason === 'UNSUPPORTED_OPERATION') return true;
      throw error;
    }
  }

  /** A conversation that was about to pause may do so although somebody wants it to go on; then it is woken. */
  private async wakeLater(conversationId: string, number: number, call: ApiCall): Promise<void> {
    try {
      const { header } = await this.find(conversationId, call.scope);
      const options = { signal: this.shutdown.started, until: 'waiting' } as const;
      const events = this.feed.follow(conversationId, header.lastSequence, options);
      while (!(await events.next()).done);
      const done = await this.commandsDone(conversationId);
      if (done < number) await this.wake(conversationId, call);
    } catch (error) {
      this.logger.warn({ err: error, conversationId }, 'A paused conversation could not be woken');
    }
  }

  private async commandsDone(conversationId: string): Promise<number> {
    const log = await this.tasks.events(conversationId, 0, MOST_EVENTS);
    return ConversationState.of(
      conversationId,
      log.map(({ event }) => event),
    ).command;
  }

  private agentOf({ header, task }: StoredTask): Promise<ServedAgent> {
    const revision = task.metadata?.[REVISION_KEY];
    return this.catalog
      .inTenant(header.tenant)
      .resolve(header.agent, typeof revision === 'string' ? revision : undefined);
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

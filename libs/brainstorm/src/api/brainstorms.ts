import { Injectable } from '@nestjs/common';
import { type CallContext, ExecutionRegistry } from '#libs/executor';
import { ProblemError } from '#libs/platform';
import {
  A2AError,
  dataPart,
  isActiveState,
  isTerminalState,
  type JsonObject,
  textPart,
  userMessage,
} from '#libs/protocol';
import { ANONYMOUS_SCOPE, type TaskHeader, TaskStore } from '#libs/tasks';
import { Approvals } from '../approvals.js';
import { BRAINSTORM_PATH, BrainstormAgent } from '../brainstorm-agent.js';
import { BrainstormProgress } from '../brainstorm-progress.js';
import { specMetadata } from '../brainstorm-spec.js';
import type { WantedBrainstorm } from '../wanted-brainstorm.js';
import { BrainstormSetup } from './brainstorm-setup.js';
import { type BrainstormView, brainstormView } from './brainstorm-view.js';

const ID = /^[\x21-\x7e]{1,200}$/;

/** Starts, shows, goes on with and ends brainstorms. Each is a Task; nothing of it is kept elsewhere but approvals. */
@Injectable()
export class Brainstorms {
  constructor(
    private readonly agent: BrainstormAgent,
    private readonly setup: BrainstormSetup,
    private readonly executions: ExecutionRegistry,
    private readonly tasks: TaskStore,
    private readonly approvals: Approvals,
  ) {}

  /**
   * Resolves with the brainstorm's id when it is durable; it goes on whatever becomes of the caller.
   * @throws ProblemError 422; A2AError 409 for another brainstorm under a known `Idempotency-Key`
   */
  async start(wanted: WantedBrainstorm, baseUrl: string, idempotencyKey?: string): Promise<string> {
    const { agent, executions } = this;
    const spec = await this.setup.spec(wanted);
    // Under a key the Message has the key's name, so that the same brainstorm is the same request.
    const fields = idempotencyKey === undefined ? {} : { messageId: idempotencyKey };
    const message = userMessage([dataPart(wanted as unknown as JsonObject)], fields);
    const request = { message, metadata: specMetadata(spec) };
    const execution =
      idempotencyKey === undefined
        ? executions.begin(agent, request, callOf(baseUrl))
        : await executions.beginOnce(agent, request, callOf(baseUrl), idempotencyKey);
    await execution.accepted;
    return execution.taskId;
  }

  /** @throws ProblemError 404 */
  async header(id: string): Promise<TaskHeader> {
    const header = ID.test(id) ? await this.tasks.header(id, ANONYMOUS_SCOPE) : undefined;
    if (header?.agent !== BRAINSTORM_PATH) throw new ProblemError(404, 'brainstorm not found');
    return header;
  }

  /** @throws ProblemError 404 */
  async show(id: string): Promise<BrainstormView> {
    const header = await this.header(id);
    const events = await this.tasks.events(id, 0, header.lastSequence);
    return brainstormView(header, BrainstormProgress.of(events.map(({ event }) => event)));
  }

  /**
   * One pass more of a brainstorm that rests, or the rest of the pass that failed; further ones follow until it
   * converges. One that is active goes on anyway.
   * @throws ProblemError 404; 409 where it has ended
   */
  async iterate(id: string, baseUrl: string): Promise<void> {
    const { state } = await this.header(id);
    if (isActiveState(state)) return;
    if (isTerminalState(state)) throw await this.ended(id);
    const request = { message: userMessage([textPart('iterate')]) };
    try {
      await (
        await this.executions.resume(this.agent, id, request, callOf(baseUrl))
      ).accepted;
    } catch (error) {
      // Another caller was first: it goes on all the same, unless it was ended.
      if (!isUnsupported(error)) throw error;
      if (isTerminalState((await this.header(id)).state)) throw await this.ended(id);
    }
  }

  /**
   * Ends a brainstorm with the state that was merged last; an agent at work is canceled. Approving again answers the
   * same.
   * @throws ProblemError 404; 409 where no pass is complete yet, or it has ended otherwise
   */
  async approve(id: string, baseUrl: string): Promise<BrainstormView> {
    const { status, iteration } = await this.show(id);
    if (status === 'approved') return this.show(id);
    if (isTerminalState((await this.header(id)).state)) throw await this.ended(id);
    if (iteration === 0) throw new ProblemError(409, 'there is nothing to approve yet: no pass is complete');
    await this.approvals.approve(id);
    await this.stop(id, baseUrl);
    const shown = await this.show(id);
    if (shown.status !== 'approved') throw await this.ended(id);
    return shown;
  }

  /**
   * Canceling a canceled brainstorm again answers the same.
   * @throws ProblemError 404; 409 where it has ended otherwise
   */
  async cancel(id: string, baseUrl: string): Promise<BrainstormView> {
    if (!isTerminalState((await this.header(id)).state)) await this.stop(id, baseUrl);
    const shown = await this.show(id);
    if (shown.status !== 'canceled') throw await this.ended(id);
    return shown;
  }

  private async stop(id: string, baseUrl: string): Promise<void> {
    try {
      await this.executions.cancel(this.agent, id, callOf(baseUrl));
    } catch (error) {
      // It ended otherwise, as an approved one does: what it ended as decides the answer.
      if (!(error instanceof A2AError) || error.reason !== 'TASK_NOT_CANCELABLE') throw error;
    }
  }

  private async ended(id: string): Promise<ProblemError> {
    const { status } = await this.show(id);
    return new ProblemError(409, `the brainstorm has ended: it is ${status}`);
  }
}

function isUnsupported(error: unknown): boolean {
  return error instanceof A2AError && error.reason === 'UNSUPPORTED_OPERATION';
}

function callOf(baseUrl: string): CallContext {
  return { scope: ANONYMOUS_SCOPE, agent: BRAINSTORM_PATH, extensions: [], baseUrl };
}

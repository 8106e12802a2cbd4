import { Injectable } from '@nestjs/common';
import type { ApiCall } from '#libs/access';
import { type CallContext, ExecutionRegistry } from '#libs/executor';
import { ProblemError } from '#libs/http';
import {
  A2AError,
  dataPart,
  isActiveState,
  isTerminalState,
  type JsonObject,
  textPart,
  userMessage,
} from '#libs/protocol';
import { type TaskHeader, type TaskScope, TaskStore } from '#libs/tasks';
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
  async start(wanted: WantedBrainstorm, call: ApiCall, idempotencyKey?: string): Promise<string> {
    const { agent, executions } = this;
    const spec = await this.setup.spec(wanted, call.scope.tenant);
    // Under a key the Message has the key's name, so that the same brainstorm is the same request.
    const fields = idempotencyKey === undefined ? {} : { messageId: idempotencyKey };
    const message = userMessage([dataPart(wanted as unknown as JsonObject)], fields);
    const request = { message, metadata: specMetadata(spec) };
    const execution =
      idempotencyKey === undefined
        ? executions.begin(agent, request, callOf(call))
        : await executions.beginOnce(agent, request, callOf(call), idempotencyKey);
    await execution.accepted;
    return execution.taskId;
  }

  /** @throws ProblemError 404 */
  async header(id: string, scope: TaskScope): Promise<TaskHeader> {
    const header = ID.test(id) ? await this.tasks.header(id, scope) : undefined;
    if (header?.agent !== BRAINSTORM_PATH) throw new ProblemError(404, 'brainstorm not found');
    return header;
  }

  /** @throws ProblemError 404 */
  async show(id: string, scope: TaskScope): Promise<BrainstormView> {
    const header = await this.header(id, scope);
    const events = await this.tasks.events(id, 0, header.lastSequence);
    return brainstormView(header, BrainstormProgress.of(events.map(({ event }) => event)));
  }

  /**
   * One pass more of a brainstorm that rests, or the rest of the pass that failed; further ones follow until it
   * converges. One that is active goes on anyway.
   * @throws ProblemError 404; 409 where it has ended
   */
  async iterate(id: string, call: ApiCall): Promise<void> {
    const { state } = await this.header(id, call.scope);
    if (isActiveState(state)) return;
    if (isTerminalState(state)) throw await this.ended(id, call.scope);
    const request = { message: userMessage([textPart('iterate')]) };
    try {
      await (
        await this.executions.resume(this.agent, id, request, callOf(call))
      ).accepted;
    } catch (error) {
      // Another caller was first: it goes on all the same, unless it was ended.
      if (!isUnsupported(error)) throw error;
      if (isTerminalState((await this.header(id, call.scope)).state)) throw await this.ended(id, call.scope);
    }
  }

  /**
   * Ends a brainstorm with the state that was merged last; an agent at work is canceled. Approving again answers the
   * same.
   * @throws ProblemError 404; 409 where no pass is complete yet, or it has ended otherwise
   */
  async approve(id: string, call: ApiCall): Promise<BrainstormView> {
    const { status, iteration } = await this.show(id, call.scope);
    if (status === 'approved') return this.show(id, call.scope);
    if (isTerminalState((await this.header(id, call.scope)).state)) throw await this.ended(id, call.scope);
    if (iteration === 0) throw new ProblemError(409, 'there is nothing to approve yet: no pass is complete');
    await this.approvals.approve(id);
    await this.stop(id, call);
    const shown = await this.show(id, call.scope);
    if (shown.status !== 'approved') throw await this.ended(id, call.scope);
    return shown;
  }

  /**
   * Canceling a canceled brainstorm again answers the same.
   * @throws ProblemError 404; 409 where it has ended otherwise
   */
  async cancel(id: string, call: ApiCall): Promise<BrainstormView> {
    if (!isTerminalState((await this.header(id, call.scope)).state)) await this.stop(id, call);
    const shown = await this.show(id, call.scope);
    if (shown.status !== 'canceled') throw await this.ended(id, call.scope);
    return shown;
  }

  private async stop(id: string, call: ApiCall): Promise<void> {
    try {
      await this.executions.cancel(this.agent, id, callOf(call));
    } catch (error) {
      // It ended otherwise, as an approved one does: what it ended as decides the answer.
      if (!(error instanceof A2AError) || error.reason !== 'TASK_NOT_CANCELABLE') throw error;
    }
  }

  private async ended(id: string, scope: TaskScope): Promise<ProblemError> {
    const { status } = await this.show(id, scope);
    return new ProblemError(409, `the brainstorm has ended: it is ${status}`);
  }
}

function isUnsupported(error: unknown): boolean {
  return error instanceof A2AError && error.reason === 'UNSUPPORTED_OPERATION';
}

function callOf({ scope, baseUrl }: ApiCall): CallContext {
  return { scope, agent: BRAINSTORM_PATH, extensions: [], baseUrl };
}

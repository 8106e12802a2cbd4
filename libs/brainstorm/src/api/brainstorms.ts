import { Injectable } from '@nestjs/common';
import type { ApiCall } from '#libs/access';
import { endedProcessError, Processes, type ProcessEvents, type ProcessKind, ProcessStreams } from '#libs/durable';
import { ProblemError } from '#libs/http-server';
import {
  firstData,
  firstText,
  isActiveState,
  isTerminalState,
  type JsonObject,
  type JsonValue,
  type RunEventNote,
  runEventNote,
  type TaskStatusUpdateEvent,
  textPart,
  userMessage,
} from '#libs/protocol';
import type { LogAdmission, RecordedEvent, TaskEvent, TaskHeader, TaskScope } from '#libs/tasks';
import { Approvals } from '../approvals.js';
import { BRAINSTORM_PATH } from '../brainstorm-executor.js';
import { BrainstormProgress } from '../brainstorm-progress.js';
import { specIn, specMetadata } from '../brainstorm-spec.js';
import type { BrainstormEventType } from '../brainstorm-steps.js';
import type { RequestedBrainstorm } from '../requested-brainstorm.js';
import { BrainstormSetup } from './brainstorm-setup.js';
import {
  type BrainstormPage,
  type BrainstormQuery,
  BRAINSTORMS,
  type BrainstormView,
  brainstormView,
} from './brainstorm.dto.js';

/** Event of a brainstorm's stream. */
export interface BrainstormEvent {
  type: BrainstormEventType;
  brainstormId: string;
  /** Position of the event in the brainstorm's log, from 1 without gaps. It is the SSE id. */
  sequence: number;
  /** Time of the event, in ISO 8601. */
  timestamp: string;
  payload: JsonObject;
}

/**
 * Converts an event of a Task's log to an event of the brainstorm's stream. Each event of the log gives exactly one.
 */
export function toBrainstormEvent({ taskId, sequence, event }: RecordedEvent): BrainstormEvent {
  const { type, payload, timestamp } = stepOf(event);
  return {
    type: type as BrainstormEventType,
    brainstormId: taskId,
    sequence,
    timestamp: timestamp ?? new Date(0).toISOString(),
    payload,
  };
}

function stepOf(event: TaskEvent): RunEventNote {
  if ('task' in event) {
    const { idea, agents, maxIterations } = specIn(event.task.metadata);
    const shown = agents.map(({ agent, name, role }) => ({ agent, name, role }));
    const { timestamp } = event.task.status;
    return { type: 'brainstorm.started', payload: { idea, agents: shown, maxIterations }, timestamp };
  }
  if ('artifactUpdate' in event) {
    const { artifact, metadata } = event.artifactUpdate;
    const note = runEventNote(metadata) ?? { type: 'iteration.completed', payload: {} };
    return { ...note, payload: { ...note.payload, state: firstData(artifact.parts) ?? null } };
  }
  const { statusUpdate, received } = event;
  const { timestamp } = statusUpdate.status;
  if (!received) return { ...statusStep(statusUpdate), timestamp };
  const payload = { messageId: received.messageId, parts: received.parts as unknown as JsonValue };
  return { type: 'iteration.requested', payload, timestamp };
}

/**
 * Returns the step (type and payload) of a status update. If something other than the brainstorm ended the Task, the
 * status has no RunEventNote: its state and text then determine the step.
 */
function statusStep({ status, metadata }: TaskStatusUpdateEvent): RunEventNote {
  const note = runEventNote(metadata);
  if (note) return note;
  if (status.state === 'TASK_STATE_CANCELED') return { type: 'brainstorm.canceled', payload: { agents: [] } };
  const error = firstText(status.message?.parts ?? []) ?? 'The brainstorm failed';
  return { type: 'brainstorm.failed', payload: { error } };
}

const BRAINSTORM: ProcessKind = { noun: 'brainstorm', includes: ({ agent }) => agent === BRAINSTORM_PATH };

/**
 * Starts, shows, continues, approves and cancels brainstorms. Each is a Task; only approvals are stored outside its
 * log.
 */
@Injectable()
export class Brainstorms {
  constructor(
    private readonly processes: Processes,
    private readonly streams: ProcessStreams,
    private readonly setup: BrainstormSetup,
    private readonly approvals: Approvals,
  ) {}

  /**
   * Starts a brainstorm and resolves with its id when it is durable. The brainstorm continues if the caller
   * disconnects.
   * @throws ProblemError 422 for an invalid request
   * @throws A2AError 409 if the `Idempotency-Key` was used for another brainstorm
   */
  async startBrainstorm(wanted: RequestedBrainstorm, call: ApiCall, idempotencyKey?: string): Promise<string> {
    const metadata = specMetadata(await this.setup.settleSpec(wanted, call.scope.tenant));
    const data = wanted as unknown as JsonObject;
    return this.processes.startProcess({ agent: BRAINSTORM_PATH, data, metadata, check: false }, call, idempotencyKey);
  }

  /** Lists brainstorms, most recently updated first. */
  async listBrainstorms(query: BrainstormQuery, call: ApiCall): Promise<BrainstormPage> {
    const { found, nextPageToken } = await this.processes.listPage(BRAINSTORMS, query, call);
    return { brainstorms: found, nextPageToken };
  }

  /**
   * Returns the events of a brainstorm until it awaits input or has ended.
   * @throws ProblemError 404
   */
  async findEvents(id: string, scope: TaskScope): Promise<ProcessEvents> {
    return this.streams.eventsOf(await this.findHeader(id, scope), toBrainstormEvent, 'waiting');
  }

  /** Returns a brainstorm with its state and passes. @throws ProblemError 404 */
  showBrainstorm(id: string, call: ApiCall): Promise<BrainstormView> {
    return this.loadView(id, call.scope, this.processes.openRoom(call));
  }

  /**
   * Continues a brainstorm that awaits input: with another pass, or with the rest of a failed pass. Further passes
   * follow until it converges. An active brainstorm is left as it is.
   * @throws ProblemError 404; 409 if the brainstorm has ended
   */
  async continueBrainstorm(id: string, call: ApiCall): Promise<void> {
    const brainstorm = await this.processes.loadBegun(BRAINSTORM, id, call.scope);
    const { state } = brainstorm.header;
    if (isActiveState(state)) return;
    const room = this.processes.openRoom(call);
    if (isTerminalState(state)) throw await this.endedProblem(id, call.scope, room);
    if (await this.processes.resumeProcess(brainstorm, userMessage([textPart('iterate')]), call)) return;
    // Another caller has continued or ended the brainstorm first.
    if (isTerminalState((await this.findHeader(id, call.scope)).state))
      throw await this.endedProblem(id, call.scope, room);
  }

  /**
   * Approves a brainstorm: it ends with the last merged state, and its active agent is canceled. A repeated approval
   * returns the same result.
   * @throws ProblemError 404; 409 if no pass is complete yet, or the brainstorm has another outcome
   */
  async approveBrainstorm(id: string, call: ApiCall): Promise<BrainstormView> {
    const { scope } = call;
    const room = this.processes.openRoom(call);
    const { status, iteration } = await this.loadView(id, scope, room);
    if (status === 'approved') return this.loadView(id, scope, room);
    if (isTerminalState((await this.findHeader(id, scope)).state)) throw await this.endedProblem(id, scope, room);
    if (iteration === 0) throw new ProblemError(409, 'there is nothing to approve yet: no pass is complete');
    room[Symbol.dispose]();
    await this.approvals.noteApproval(id);
    await this.stopBrainstorm(id, call);
    const shown = await this.loadView(id, scope, room);
    if (shown.status !== 'approved') throw await this.endedProblem(id, scope, room);
    return shown;
  }

  /**
   * Cancels a brainstorm. A repeated cancel returns the same.
   * @throws ProblemError 404; 409 if the brainstorm has another outcome
   */
  async cancelBrainstorm(id: string, call: ApiCall): Promise<BrainstormView> {
    await this.stopBrainstorm(id, call);
    const room = this.processes.openRoom(call);
    const shown = await this.loadView(id, call.scope, room);
    if (shown.status !== 'canceled') throw await this.endedProblem(id, call.scope, room);
    return shown;
  }

  private async stopBrainstorm(id: string, call: ApiCall): Promise<void> {
    await this.processes.cancelProcess(await this.processes.loadBegun(BRAINSTORM, id, call.scope), call);
  }

  private findHeader(id: string, scope: TaskScope): Promise<TaskHeader> {
    return this.processes.findHeader(BRAINSTORM, id, scope);
  }

  private async loadView(id: string, scope: TaskScope, room: LogAdmission): Promise<BrainstormView> {
    const header = await this.findHeader(id, scope);
    return brainstormView(header, BrainstormProgress.fromEvents(await this.processes.readLog(header, room)));
  }

  private async endedProblem(id: string, scope: TaskScope, room: LogAdmission): Promise<ProblemError> {
    return endedProcessError(BRAINSTORM, `it is ${(await this.loadView(id, scope, room)).status}`);
  }
}

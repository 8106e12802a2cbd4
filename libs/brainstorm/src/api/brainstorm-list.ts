import { Injectable } from '@nestjs/common';
import { oneOf, type PageQuery, readPageQuery } from '#libs/http';
import { type ProcessListing, processPage } from '#libs/process';
import { firstData, isJsonObject, type Task, type TaskState } from '#libs/protocol';
import { type StoredTask, type TaskScope, TaskStore } from '#libs/tasks';
import { BRAINSTORM_PATH } from '../brainstorm-agent.js';
import { REST_KEY } from '../brainstorm-ending.js';
import type { BrainstormStatus } from '../brainstorm-progress.js';
import { specIn } from '../brainstorm-spec.js';
import type { CanonicalState } from '../core/canonical-state.js';

/** A brainstorm as a list shows it: without its state. */
export interface BrainstormSummary {
  brainstormId: string;
  status: BrainstormStatus;
  iteration: number;
  idea: string;
  createdAt: string;
  updatedAt: string;
}

export interface BrainstormPage {
  brainstorms: BrainstormSummary[];
  /** Empty on the last page. */
  nextPageToken: string;
}

export interface BrainstormQuery extends PageQuery {
  status?: BrainstormStatus;
}

/** The states of a brainstorm's Task that a word for it may stand for. */
const STATES_OF: Record<BrainstormStatus, readonly TaskState[]> = {
  active: ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'],
  converged: ['TASK_STATE_INPUT_REQUIRED'],
  approved: ['TASK_STATE_COMPLETED'],
  failed: ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_FAILED', 'TASK_STATE_REJECTED'],
  canceled: ['TASK_STATE_CANCELED'],
};

export const STATUSES = Object.keys(STATES_OF) as BrainstormStatus[];

/** @throws ProblemError 400 naming the parameter */
export function readBrainstormQuery(query: Record<string, unknown>): BrainstormQuery {
  return { status: oneOf(query, 'status', STATUSES), ...readPageQuery(query) };
}

const LISTING: ProcessListing<BrainstormStatus, BrainstormSummary> = {
  agent: BRAINSTORM_PATH,
  states: STATES_OF,
  statusOf: ({ task }) => statusOf(task),
  summary,
};

/** The brainstorms, the one that changed last first. */
@Injectable()
export class BrainstormList {
  constructor(private readonly tasks: TaskStore) {}

  async page(query: BrainstormQuery, scope: TaskScope): Promise<BrainstormPage> {
    const { found, nextPageToken } = await processPage(this.tasks, LISTING, query, scope);
    return { brainstorms: found, nextPageToken };
  }
}

function summary({ header, task }: StoredTask): BrainstormSummary {
  const state = firstData(task.artifacts?.[0]?.parts ?? []);
  const iteration = isJsonObject(state) ? (state as unknown as CanonicalState).meta.iteration : 0;
  return {
    brainstormId: header.taskId,
    status: statusOf(task),
    iteration,
    idea: specIn(task.metadata).idea,
    createdAt: header.createdAt.toISOString(),
    updatedAt: header.updatedAt.toISOString(),
  };
}

function statusOf({ status }: Task): BrainstormStatus {
  if (status.state === 'TASK_STATE_INPUT_REQUIRED') {
    return status.message?.metadata?.[REST_KEY] === 'failed' ? 'failed' : 'converged';
  }
  return STATUSES.find((word) => STATES_OF[word].includes(status.state)) ?? 'failed';
}

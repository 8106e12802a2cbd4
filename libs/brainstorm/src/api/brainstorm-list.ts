import { Injectable } from '@nestjs/common';
import { oneOf, type PageQuery, pageTokenAfter, readPageQuery } from '#libs/http';
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

/** The brainstorms, the one that changed last first. */
@Injectable()
export class BrainstormList {
  constructor(private readonly tasks: TaskStore) {}

  async page({ status, pageSize, before }: BrainstormQuery, scope: TaskScope): Promise<BrainstormPage> {
    const states = status === undefined ? [undefined] : STATES_OF[status];
    const found = await Promise.all(
      states.map((state) => this.inState(state, { status, before, pageSize: pageSize + 1 }, scope)),
    );
    const sorted = found.flat().toSorted(newestFirst);
    const page = sorted.slice(0, pageSize);
    const last = page.at(-1);
    return {
      brainstorms: page.map(summary),
      nextPageToken: last && sorted.length > page.length ? pageTokenAfter(last.header) : '',
    };
  }

  /** A resting Task's state does not tell what it rests as: those that rest as something else are passed over. */
  private async inState(
    state: TaskState | undefined,
    { status, before, pageSize: wanted }: BrainstormQuery,
    scope: TaskScope,
  ): Promise<StoredTask[]> {
    const fitting: StoredTask[] = [];
    for (let after = before; ;) {
      const query = { scope, agent: BRAINSTORM_PATH, state, before: after, limit: wanted };
      const tasks = await this.tasks.list(query);
      fitting.push(...tasks.filter(({ task }) => status === undefined || statusOf(task) === status));
      after = tasks.at(-1)?.header;
      if (fitting.length >= wanted || tasks.length < wanted) return fitting.slice(0, wanted);
    }
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

function newestFirst(a: StoredTask, b: StoredTask): number {
  const later = b.header.updatedAt.getTime() - a.header.updatedAt.getTime();
  if (later !== 0) return later;
  return a.header.taskId < b.header.taskId ? 1 : -1;
}

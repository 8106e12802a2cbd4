import { Injectable } from '@nestjs/common';
import { oneOf, type PageQuery, pageTokenAfter, readPageQuery } from '#libs/http';
import type { TaskState } from '#libs/protocol';
import { type StoredTask, type TaskScope, TaskStore } from '#libs/tasks';
import { CONVERSATIONS_PATH } from '../conversation-agent.js';
import {
  type ConversationStatus,
  conversationSummary,
  type ConversationSummary,
  statesOf,
} from '../conversation-view.js';

export const STATUSES: ConversationStatus[] = ['active', 'complete'];

export interface ConversationQuery extends PageQuery {
  status?: ConversationStatus;
}

export interface ConversationPage {
  conversations: ConversationSummary[];
  /** Empty on the last page. */
  nextPageToken: string;
}

/** @throws ProblemError 400 naming the parameter */
export function readConversationQuery(query: Record<string, unknown>): ConversationQuery {
  return { status: oneOf(query, 'status', STATUSES), ...readPageQuery(query) };
}

/** The conversations that were asked for by themselves, the one that changed last first; not those of workflows. */
@Injectable()
export class ConversationList {
  constructor(private readonly tasks: TaskStore) {}

  async page(query: ConversationQuery, scope: TaskScope): Promise<ConversationPage> {
    const states = query.status === undefined ? [undefined] : statesOf(query.status);
    const found = await Promise.all(states.map((state) => this.inState(state, query, scope)));
    const sorted = found.flat().toSorted(newestFirst);
    const page = sorted.slice(0, query.pageSize);
    const last = page.at(-1);
    return {
      conversations: page.map(conversationSummary).filter((it) => it !== undefined),
      nextPageToken: last && sorted.length > page.length ? pageTokenAfter(last.header) : '',
    };
  }

  private inState(
    state: TaskState | undefined,
    { before, pageSize }: ConversationQuery,
    scope: TaskScope,
  ): Promise<StoredTask[]> {
    const limit = pageSize + 1;
    return this.tasks.list({ scope, agent: CONVERSATIONS_PATH, state, before, limit });
  }
}

function newestFirst(a: StoredTask, b: StoredTask): number {
  const later = b.header.updatedAt.getTime() - a.header.updatedAt.getTime();
  if (later !== 0) return later;
  return a.header.taskId < b.header.taskId ? 1 : -1;
}

import { Injectable } from '@nestjs/common';
import { oneOf, type PageQuery, readPageQuery } from '#libs/http';
import { type ProcessListing, processPage } from '#libs/process';
import { type TaskScope, TaskStore } from '#libs/tasks';
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

const LISTING: ProcessListing<ConversationStatus, ConversationSummary> = {
  agent: CONVERSATIONS_PATH,
  states: { active: statesOf('active'), complete: statesOf('complete') },
  summary: conversationSummary,
};

/** The conversations that were asked for by themselves, the one that changed last first; not those of workflows. */
@Injectable()
export class ConversationList {
  constructor(private readonly tasks: TaskStore) {}

  async page(query: ConversationQuery, scope: TaskScope): Promise<ConversationPage> {
    const { found, nextPageToken } = await processPage(this.tasks, LISTING, query, scope);
    return { conversations: found, nextPageToken };
  }
}

import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { scopeOf } from '#libs/access';
import {
  ProblemError,
  QueryPageToken,
  QueryWholePageSize,
  ResponseBudget,
  ResponseBudgetExceeded,
} from '#libs/http-server';
import { WORKFLOW_NAME } from '#libs/workflow-definition';
import { MOST_TENANT_BYTES, MOST_WORKFLOWS, type WorkflowStore, type WorkflowText } from '../storage/workflow-store.js';

/** Query parameters of the list of workflows. */
export class WorkflowPageQuery {
  @QueryWholePageSize(MOST_WORKFLOWS)
  pageSize = MOST_WORKFLOWS;

  @QueryPageToken((token) => WORKFLOW_NAME.test(token), 'greeting', 'The `Next-Page-Token` of the page before.')
  pageToken?: string;
}

/**
 * Number of copies of a page that are in memory at the same time. The memory for a response is reserved with this
 * factor.
 */
const COPIES = 2;

/**
 * Sends pages of workflows. The definitions are sent as stored, without parsing them, because a page may contain all
 * definitions of a tenant.
 */
@Injectable()
export class WorkflowPages {
  constructor(private readonly room: ResponseBudget) {}

  /** Sends one page of a tenant's workflows. @throws ProblemError 503 if too many large responses are in progress */
  async sendPage(reply: FastifyReply, store: WorkflowStore, { pageSize, pageToken }: WorkflowPageQuery): Promise<void> {
    const page = {
      limit: pageSize,
      most: MOST_TENANT_BYTES,
      ...(pageToken && { afterName: pageToken }),
      admit: (bytes: number) => this.reserveRoom(bytes * COPIES, reply),
    };
    const { workflows, more } = await store.listTexts(page);
    const last = workflows.at(-1)?.name;
    if (more && last !== undefined) {
      const next = `/api/workflows?pageSize=${pageSize}&pageToken=${last}`;
      void reply.header('next-page-token', last).header('link', `<${next}>; rel="next"`);
    }
    await reply.type('application/json; charset=utf-8').send(`[${workflows.map(viewOf).join(',')}]`);
  }

  /**
   * Reserves `bytes` of memory for a response, and releases them when the response is sent or the client disconnects.
   */
  private async reserveRoom(bytes: number, { raw, request }: FastifyReply): Promise<void> {
    const leave = await this.room.enterAnswer(bytes, scopeOf(request.raw)).catch((error: unknown) => {
      throw error instanceof ResponseBudgetExceeded ? new ProblemError(503, error.message) : error;
    });
    if (raw.closed) leave();
    else raw.once('close', leave);
  }
}

/**
 * Returns the JSON text of a workflow in a response: the text of the definition as it was saved, with the revision and
 * its times appended.
 */
function viewOf({ definition, revision, createdAt, updatedAt }: WorkflowText): string {
  const more = { revision, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
  const text = definition.trimEnd();
  return `${text.slice(0, text.lastIndexOf('}'))},${JSON.stringify(more).slice(1)}`;
}

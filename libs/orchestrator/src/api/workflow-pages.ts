import { Injectable } from '@nestjs/common';
import { scopeOf } from '#libs/access';
import { ProblemError, QueryText, QueryWholePageSize, ResponseBudget, ResponseBudgetExceeded } from '#libs/http';
import type { FastifyReply } from 'fastify';
import { MOST_TENANT_BYTES, MOST_WORKFLOWS } from '../definition-limits.js';
import { WORKFLOW_NAME } from '../workflow-problems.js';
import type { WorkflowStore, WorkflowText } from '../workflow-store.js';

/** Which workflows are listed. */
export class WorkflowPageQuery {
  @QueryWholePageSize(MOST_WORKFLOWS)
  pageSize = MOST_WORKFLOWS;

  @QueryText((token) => token === '' || WORKFLOW_NAME.test(token), 'is not a token of this list', {
    description: 'The `Next-Page-Token` of the page before.',
    example: 'greeting',
  })
  pageToken?: string;
}

/** A text is there as a row, in the answer, and as what the socket has not taken yet. */
const COPIES = 2;

/** Sends pages of workflows: a list of texts that nobody parses, as large as a tenant's definitions may be. */
@Injectable()
export class WorkflowPages {
  constructor(private readonly room: ResponseBudget) {}

  /** @throws ProblemError 503 where too many large answers are under way */
  async send(reply: FastifyReply, store: WorkflowStore, { pageSize, pageToken }: WorkflowPageQuery): Promise<void> {
    const page = {
      limit: pageSize,
      most: MOST_TENANT_BYTES,
      ...(pageToken && { afterName: pageToken }),
      admit: (bytes: number) => this.admit(bytes * COPIES, reply),
    };
    const { workflows, more } = await store.texts(page);
    const last = workflows.at(-1)?.name;
    if (more && last !== undefined) {
      const next = `/api/workflows?pageSize=${pageSize}&pageToken=${last}`;
      void reply.header('next-page-token', last).header('link', `<${next}>; rel="next"`);
    }
    await reply.type('application/json; charset=utf-8').send(`[${workflows.map(viewOf).join(',')}]`);
  }

  /** What was taken is given back when the answer has gone, or its reader has. */
  private async admit(bytes: number, { raw, request }: FastifyReply): Promise<void> {
    const leave = await this.room.enter(bytes, scopeOf(request.raw)).catch((error: unknown) => {
      throw error instanceof ResponseBudgetExceeded ? new ProblemError(503, error.message) : error;
    });
    if (raw.closed) leave();
    else raw.once('close', leave);
  }
}

/** The definition as it was saved, with what the service knows beside it. */
function viewOf({ definition, revision, createdAt, updatedAt }: WorkflowText): string {
  const more = { revision, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
  const text = definition.trimEnd();
  return `${text.slice(0, text.lastIndexOf('}'))},${JSON.stringify(more).slice(1)}`;
}

import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { scopeOf } from '#libs/access';
import { ApiPages, ApiProblem, malformed, readPageQuery, single } from '#libs/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WorkflowStore } from '../workflow-store.js';
import { REVISIONS_SCHEMA } from './api-schemas.js';
import { etagOf } from './revision-conditions.js';
import { unknownWorkflow } from './runs.js';
import { WorkflowView, workflowView } from './workflow-body.js';

/** A page of what was saved, the newest first. */
interface RevisionPage {
  revisions: { revision: string; savedAt: string }[];
  nextPageToken: string;
}

/** The saved states of workflows, as long as they are kept. */
@ApiTags('workflows')
@Controller('api/workflows/:name/revisions')
@ApiProblem(404, 'workflow not found')
export class WorkflowRevisionsController {
  constructor(private readonly store: WorkflowStore) {}

  @Get()
  @ApiPages('The revisions of a workflow, the newest first.', REVISIONS_SCHEMA)
  async list(
    @Param('name') name: string,
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
  ): Promise<RevisionPage> {
    const { pageSize } = readPageQuery({ pageSize: query['pageSize'] });
    const before = tokenOf(query);
    const store = this.of(request);
    if (!(await store.get(name))) throw unknownWorkflow();
    const saves = await store.saves(name, pageSize + 1, before);
    const page = saves.slice(0, pageSize);
    return {
      revisions: page.map(({ revision, savedAt }) => ({ revision, savedAt: savedAt.toISOString() })),
      nextPageToken: saves.length > pageSize ? (page.at(-1)?.revision ?? '') : '',
    };
  }

  @Get(':revision')
  @ApiOperation({ summary: 'A workflow as it was saved once.' })
  @ApiOkResponse({ type: WorkflowView })
  async get(
    @Param('name') name: string,
    @Param('revision') revision: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WorkflowView> {
    const store = this.of(request);
    const found = (await store.get(name)) && (await store.get(name, revision));
    if (!found) throw unknownWorkflow();
    void reply.header('etag', etagOf(found.revision));
    return workflowView(found);
  }

  private of({ raw }: FastifyRequest): WorkflowStore {
    return this.store.inTenant(scopeOf(raw).tenant);
  }
}

function tokenOf(query: Record<string, unknown>): string | undefined {
  const token = single(query, 'pageToken');
  if (token === undefined || token === '') return undefined;
  if (/^[1-9]\d{0,17}$/.test(token)) return token;
  throw malformed({ path: 'pageToken', detail: 'is not a token of this list' });
}

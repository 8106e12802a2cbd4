import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Scope } from '#libs/access';
import { ApiProblem, QueryPageSize, QueryText } from '#libs/http';
import type { TaskScope } from '#libs/tasks';
import type { FastifyReply } from 'fastify';
import { WorkflowStore } from '../workflow-store.js';
import { etagOf } from './revision-conditions.js';
import { unknownWorkflow } from './runs.js';
import { WorkflowView, workflowView } from './workflow-body.js';

const TOKEN = /^([1-9]\d{0,17})?$/;

/** Query parameters of the list of revisions. */
class RevisionQuery {
  @QueryPageSize()
  pageSize = 50;

  @QueryText((token) => TOKEN.test(token), 'is not a token of this list', {
    description: 'The nextPageToken of the page before.',
    example: '7',
  })
  pageToken?: string;
}

class SavedRevision {
  @ApiProperty({ example: '7' }) revision!: string;
  @ApiProperty({ format: 'date-time' }) savedAt!: string;
}

/** A page of revisions, newest first. */
class RevisionPage {
  @ApiProperty({ type: [SavedRevision] }) revisions!: SavedRevision[];
  @ApiProperty({ description: 'Empty on the last page.', example: '' }) nextPageToken!: string;
}

/** Lists and shows the revisions of a workflow that are still stored. */
@ApiTags('workflows')
@Controller('api/workflows/:name/revisions')
@ApiProblem(404, 'workflow not found')
export class WorkflowRevisionsController {
  constructor(private readonly store: WorkflowStore) {}

  @Get()
  @ApiOperation({ summary: 'The revisions of a workflow, the newest first.' })
  @ApiOkResponse({ type: RevisionPage })
  @ApiProblem(400, 'A parameter is malformed.')
  async listWorkflowRevisions(
    @Param('name') name: string,
    @Query() { pageSize, pageToken }: RevisionQuery,
    @Scope() { tenant }: TaskScope,
  ): Promise<RevisionPage> {
    const store = this.store.inTenant(tenant);
    if (!(await store.get(name))) throw unknownWorkflow();
    const saves = await store.listSaves(name, pageSize + 1, pageToken || undefined);
    const page = saves.slice(0, pageSize);
    return {
      revisions: page.map(({ revision, savedAt }) => ({ revision, savedAt: savedAt.toISOString() })),
      nextPageToken: saves.length > pageSize ? (page.at(-1)?.revision ?? '') : '',
    };
  }

  @Get(':revision')
  @ApiOperation({ summary: 'A workflow as it was saved once.' })
  @ApiOkResponse({ type: WorkflowView })
  async getWorkflowRevision(
    @Param('name') name: string,
    @Param('revision') revision: string,
    @Scope() { tenant }: TaskScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WorkflowView> {
    const store = this.store.inTenant(tenant);
    const found = (await store.get(name)) && (await store.get(name, revision));
    if (!found) throw unknownWorkflow();
    void reply.header('etag', etagOf(found.revision));
    return workflowView(found);
  }
}

import { Controller, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import { Scope } from '#libs/access';
import {
  ANY_JSON,
  ApiProblem,
  cutPage,
  ETAG_HEADER,
  ProblemError,
  QueryPageSize,
  QueryPageToken,
  QueryText,
} from '#libs/http-server';
import { type JsonObject, type JsonValue, textStart } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import {
  CHANGES,
  type DefinitionDiff,
  diffDefinitions,
  type EdgeChange,
  type FieldChange,
  type NodeChange,
  type WorkflowRevision,
} from '#libs/workflow-definition';
import { noteOf, WorkflowStore } from '../storage/workflow-store.js';
import { contentionProblem, etagOf, MOST_TRIES, RevisionConditions } from './revision-conditions.js';
import { unknownWorkflow } from './runs.js';
import {
  savedView,
  SavedWorkflowView,
  type ShownWorkflow,
  WorkflowBody,
  WorkflowView,
  workflowView,
} from './workflow-body.js';
import { WorkflowCheck } from './workflow-check.js';

const REVISION = /^[1-9]\d{0,17}$/;

/** Query parameters of the list of revisions. */
class RevisionQuery {
  @QueryPageSize()
  pageSize = 50;

  @QueryPageToken((token) => REVISION.test(token), '7')
  pageToken?: string;
}

class SavedRevision {
  @ApiProperty({ example: '7' }) revision!: string;
  @ApiProperty({ format: 'date-time' }) savedAt!: string;
  @ApiPropertyOptional({ description: 'Caller who saved it; absent without authentication.', example: 'ada' })
  author?: string;
  @ApiPropertyOptional({ description: 'Revision that this one restores.', example: '3' }) restoredFrom?: string;
  @ApiPropertyOptional({
    format: 'date-time',
    description:
      'Time at which the workflow was created. Revisions with another time belong to a deleted workflow of the same ' +
      'name. Absent if unknown.',
  })
  createdAt?: string;
}

/** A page of revisions, newest first. */
class RevisionPage {
  @ApiProperty({ type: [SavedRevision] }) revisions!: SavedRevision[];
  @ApiProperty({ description: 'Empty on the last page.', example: '' }) nextPageToken!: string;
}

/** Query parameters of a comparison of revisions. */
class RevisionDiffQuery {
  @QueryText((text) => REVISION.test(text), 'is not a revision', {
    description: 'Revision that counts as the earlier one; default: the stored revision before this one.',
    example: '6',
  })
  with?: string;
}

const ANY_VALUE = { ...ANY_JSON, example: 'Greet {{topic}}' };

class FieldChangeView implements FieldChange {
  @ApiProperty({ description: 'Path of the changed member.', example: 'config.prompt' }) path!: string;
  @ApiPropertyOptional({ ...ANY_VALUE, description: 'Value before; absent if the member is new.' })
  before?: JsonValue;
  @ApiPropertyOptional({ ...ANY_VALUE, description: 'Value after; absent if the member is gone.' })
  after?: JsonValue;
}

class NodeChangeView implements NodeChange {
  @ApiProperty({ example: 'writer' }) id!: string;
  @ApiProperty({ example: 'agent' }) type!: string;
  @ApiProperty({ enum: CHANGES, description: '`moved`: only its position in the editor differs.' })
  change!: NodeChange['change'];
  @ApiProperty({ type: [FieldChangeView] }) fields!: FieldChange[];
}

class EdgeChangeView implements EdgeChange {
  @ApiProperty({ example: 'topic' }) from!: string;
  @ApiProperty({ example: 'writer' }) to!: string;
  @ApiProperty({ enum: CHANGES.filter((it) => it !== 'moved') }) change!: EdgeChange['change'];
  @ApiProperty({
    type: 'integer',
    description: 'Index of the edge in the later revision; of a removed edge, in the earlier revision.',
    example: 0,
  })
  index!: number;
  @ApiProperty({ type: [FieldChangeView] }) fields!: FieldChange[];
}

/** Differences of two revisions. */
class RevisionDiff implements DefinitionDiff {
  @ApiProperty({ example: '6' }) before!: string;
  @ApiProperty({ example: '7' }) after!: string;
  @ApiProperty({ type: [FieldChangeView], description: 'Changed members other than nodes and edges.' })
  fields!: FieldChange[];
  @ApiProperty({ type: [NodeChangeView] }) nodes!: NodeChange[];
  @ApiProperty({ type: [EdgeChangeView] }) edges!: EdgeChange[];
  @ApiProperty({ description: 'True if there are more than 1,000 differences.', example: false }) truncated!: boolean;
}

/** Lists, shows, compares and restores the stored revisions of a workflow. */
@ApiTags('workflows')
@Controller('api/workflows/:name/revisions')
@ApiProblem(404, 'workflow not found')
export class WorkflowRevisionsController {
  constructor(
    private readonly store: WorkflowStore,
    private readonly checks: WorkflowCheck,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Lists the revisions of a workflow, newest first.' })
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
    const { page, nextPageToken } = cutPage(saves, pageSize, ({ revision }) => revision);
    const revisions = page.map(({ savedAt, createdAt, ...save }) => ({
      ...save,
      savedAt: savedAt.toISOString(),
      ...(createdAt && { createdAt: createdAt.toISOString() }),
    }));
    return { revisions, nextPageToken };
  }

  @Get(':revision')
  @ApiOperation({ summary: 'Returns one revision of a workflow.' })
  @ApiOkResponse({ type: WorkflowView, ...ETAG_HEADER })
  async getWorkflowRevision(
    @Param('name') name: string,
    @Param('revision') revision: string,
    @Scope() { tenant }: TaskScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShownWorkflow> {
    const found = await this.findRevision(this.store.inTenant(tenant), name, revision);
    void reply.header('etag', etagOf(found.revision));
    return workflowView(found);
  }

  @Get(':revision/diff')
  @ApiOperation({ summary: 'Compares a revision of a workflow with another one.' })
  @ApiOkResponse({ type: RevisionDiff })
  @ApiProblem(400, 'The parameter is malformed.')
  @ApiProblem(409, 'No revision before it is stored, and none is named.')
  async diffWorkflowRevisions(
    @Param('name') name: string,
    @Param('revision') revision: string,
    @Query() query: RevisionDiffQuery,
    @Scope() { tenant }: TaskScope,
  ): Promise<RevisionDiff> {
    const store = this.store.inTenant(tenant);
    const after = await this.findRevision(store, name, revision);
    const before = await this.findRevision(store, name, query.with ?? (await findPrevious(store, name, revision)));
    return {
      before: before.revision,
      after: after.revision,
      ...diffDefinitions(before.definition, after.definition),
    };
  }

  @Post(':revision/restore')
  @HttpCode(200)
  @ApiOperation({ summary: 'Saves the definition of an earlier revision as the newest one.' })
  @ApiHeader({ name: 'If-Match', required: false, description: 'ETag of the newest revision.' })
  @ApiOkResponse({ type: SavedWorkflowView, ...ETAG_HEADER })
  @ApiProblem(400, 'If-Match is malformed.')
  @ApiProblem(409, 'The revision is the newest one, or others are changing the workflow.')
  @ApiProblem(412, 'The condition of the request does not hold.')
  @ApiProblem(422, 'The definition can no longer be saved: one entry per problem.')
  async restoreWorkflowRevision(
    @Param('name') name: string,
    @Param('revision') revision: string,
    @Headers() headers: IncomingHttpHeaders,
    @Scope() { tenant, owner }: TaskScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShownWorkflow> {
    const store = this.store.inTenant(tenant);
    const conditions = RevisionConditions.fromChangeHeaders(headers);
    const { definition: old } = await this.findRevision(store, name, revision);
    const body = WorkflowBody.from(old as unknown as JsonObject);
    const { definition, warnings } = await this.checks.checkSavable(body, false, store, { tenant });
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const newest = await store.get(name);
      if (!newest) throw unknownWorkflow();
      conditions.assertRevision(name, newest.revision);
      if (newest.revision === revision) throw new ProblemError(409, `revision ${revision} is the newest one`);
      const note = { ...noteOf(owner), restoredFrom: revision };
      const saved = await store.replaceWorkflow(definition, [newest.revision], note);
      if (!saved) continue;
      void reply.header('etag', etagOf(saved.revision));
      return savedView(saved, warnings);
    }
    throw contentionProblem(name);
  }

  /**
   * Returns a stored revision of an existing workflow. @throws ProblemError 404 if the workflow or the revision does
   * not exist
   */
  private async findRevision(store: WorkflowStore, name: string, revision: string): Promise<WorkflowRevision> {
    if (!(await store.get(name))) throw unknownWorkflow();
    const found = await store.get(name, revision);
    if (!found) throw new ProblemError(404, `workflow not found: it has no revision "${textStart(revision, 32)}"`);
    return found;
  }
}

/**
 * Returns the number of the stored revision before `revision`. Revisions of an earlier, deleted workflow with the same
 * name do not count.
 * @throws ProblemError 409 if there is none
 */
async function findPrevious(store: WorkflowStore, name: string, revision: string): Promise<string> {
  const [own, previous] = await store.listSaves(name, 2, String(BigInt(revision) + 1n));
  if (previous && own?.createdAt?.getTime() === previous.createdAt?.getTime()) return previous.revision;
  throw new ProblemError(409, `no revision before revision ${revision} is stored`);
}

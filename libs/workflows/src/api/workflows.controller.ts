import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiHeader,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Scope } from '#libs/access';
import { NodeTypes } from '#libs/agents';
import { ApiLargeAnswer, ApiProblem, CREATED_HEADERS, ETAG_HEADER, ProblemError, QueryFlag } from '#libs/http-server';
import type { TaskScope } from '#libs/tasks';
import { type WorkflowRevision, workflowSchema } from '#libs/workflow-definition';
import { noteOf, type SaveNote, WorkflowStore } from '../storage/workflow-store.js';
import { WORKFLOW_EXAMPLES } from './body-examples.js';
import { contentionProblem, etagOf, MOST_TRIES, RevisionConditions } from './revision-conditions.js';
import { unknownWorkflow } from './runs.js';
import {
  ReplacementWorkflowBody,
  savedView,
  SavedWorkflowView,
  type ShownWorkflow,
  WorkflowBody,
  WorkflowProblems,
  WorkflowView,
  workflowView,
} from './workflow-body.js';
import { type CheckedWorkflow, WorkflowCheck } from './workflow-check.js';
import { WorkflowPageQuery, WorkflowPages } from './workflow-pages.js';

const NOT_MODIFIED = { status: 304, description: 'The client has it already (If-None-Match).' };

const MAX_AGE_SECONDS = 3600;

/**
 * Serves the JSON Schema of definitions, for editors and generators. The schema changes only with the version of the
 * service.
 */
@ApiTags('workflows')
@Controller('schemas')
export class WorkflowSchemaController {
  /** Response body as bytes. Fastify would add a charset to a text, which this media type does not have. */
  private readonly json: Buffer;
  private readonly version: string;

  constructor(nodeTypes: NodeTypes) {
    this.json = Buffer.from(JSON.stringify(workflowSchema(nodeTypes)));
    this.version = createHash('sha256').update(this.json).digest('base64url');
  }

  @Get('workflow.json')
  @ApiOperation({ summary: 'Returns the JSON Schema (2020-12) of workflow definitions.' })
  @ApiResponse(NOT_MODIFIED)
  @ApiOkResponse({
    ...ETAG_HEADER,
    content: {
      'application/schema+json': {
        schema: {
          type: 'object',
          additionalProperties: true,
          example: { type: 'object', required: ['name', 'nodes'] },
        },
      },
    },
  })
  getWorkflowSchema(@Headers() headers: IncomingHttpHeaders, @Res() reply: FastifyReply): void {
    void reply.header('etag', etagOf(this.version)).header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`);
    if (RevisionConditions.fromHeaders(headers).isUnmodified(this.version)) void reply.code(304).send();
    else void reply.header('content-type', 'application/schema+json').send(this.json);
  }
}

/** Query parameters of a save. */
class StrictQuery {
  @QueryFlag({
    description: 'True if warnings, such as unresolved references, are rejected like errors.',
  })
  strict = false;
}

/**
 * Creates, replaces and deletes the workflows of a tenant. A save takes effect at once as a new revision; runs in
 * progress keep their revision.
 */
@ApiTags('workflows')
@Controller('api/workflows')
export class WorkflowsController {
  constructor(
    private readonly store: WorkflowStore,
    private readonly checks: WorkflowCheck,
    private readonly pages: WorkflowPages,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Creates a workflow.' })
  @ApiBody({ type: WorkflowBody, examples: WORKFLOW_EXAMPLES })
  @ApiCreatedResponse({ type: SavedWorkflowView, ...CREATED_HEADERS })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(409, 'A workflow of this name exists already.')
  @ApiProblem(422, 'The graph is invalid: one entry per problem.')
  async createWorkflow(
    @Body() body: WorkflowBody,
    @Query() { strict }: StrictQuery,
    @Scope() { tenant, owner }: TaskScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShownWorkflow> {
    const store = this.store.inTenant(tenant);
    const { definition, warnings } = await this.checks.checkSavable(body, strict, store, { tenant });
    const created = await store.createWorkflow(definition, noteOf(owner));
    if (!created) throw new ProblemError(409, `the workflow "${definition.name}" exists already`);
    void reply.header('location', `/api/workflows/${definition.name}`).header('etag', etagOf(created.revision));
    return savedView(created, warnings);
  }

  @Post('check')
  @HttpCode(200)
  @ApiOperation({ summary: 'Checks a definition without saving it.' })
  @ApiBody({ type: WorkflowBody, examples: WORKFLOW_EXAMPLES })
  @ApiOkResponse({ type: WorkflowProblems })
  // Problems are the regular response, even if the body is not a definition.
  async checkWorkflow(@Body() body: unknown, @Scope() { tenant }: TaskScope): Promise<WorkflowProblems> {
    return { problems: await this.checks.findProblems(body, this.store.inTenant(tenant), { tenant }) };
  }

  @Get()
  @ApiOperation({
    summary: 'Lists workflows by name.',
    description: 'If more workflows exist, `Next-Page-Token` holds the token of the next page, and `Link` its URL.',
  })
  @ApiOkResponse({
    type: [WorkflowView],
    headers: {
      'Next-Page-Token': { description: 'Absent on the last page.', schema: { type: 'string' } },
      Link: { description: 'The next page, with `rel="next"`.', schema: { type: 'string' } },
    },
  })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiLargeAnswer()
  async listWorkflows(
    @Query() query: WorkflowPageQuery,
    @Scope() { tenant }: TaskScope,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.pages.sendPage(reply, this.store.inTenant(tenant), query);
  }

  @Get(':name')
  @ApiOperation({ summary: 'Returns one workflow.', description: 'Its revision is the ETag of the answer.' })
  @ApiHeader({
    name: 'If-None-Match',
    required: false,
    description: 'ETag of the known revision: 304 if it is the newest.',
  })
  @ApiOkResponse({ type: WorkflowView, ...ETAG_HEADER })
  @ApiResponse(NOT_MODIFIED)
  @ApiProblem(404, 'workflow not found')
  async getWorkflow(
    @Param('name') name: string,
    @Headers() headers: IncomingHttpHeaders,
    @Scope() { tenant }: TaskScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShownWorkflow | undefined> {
    const found = await this.store.inTenant(tenant).get(name);
    if (!found) throw unknownWorkflow();
    void reply.header('etag', etagOf(found.revision));
    if (!RevisionConditions.fromHeaders(headers).isUnmodified(found.revision)) return workflowView(found);
    void reply.status(304);
    return undefined;
  }

  @Put(':name')
  @ApiOperation({ summary: 'Creates or replaces the workflow that the path names.' })
  @ApiBody({ type: WorkflowBody, examples: WORKFLOW_EXAMPLES })
  @ApiHeader({ name: 'If-Match', required: false, description: 'ETag of the revision to replace; `*`: any.' })
  @ApiHeader({ name: 'If-None-Match', required: false, description: '`*`: only if no workflow of this name exists.' })
  @ApiOkResponse({ type: SavedWorkflowView, description: 'The workflow was replaced.', ...ETAG_HEADER })
  @ApiCreatedResponse({ type: SavedWorkflowView, description: 'The workflow was created.', ...CREATED_HEADERS })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(412, 'The condition of the request does not hold.')
  @ApiProblem(422, 'The graph is invalid: one entry per problem.')
  async saveWorkflow(
    @Param('name') name: string,
    @Body() body: ReplacementWorkflowBody,
    @Query() { strict }: StrictQuery,
    @Headers() headers: IncomingHttpHeaders,
    @Scope() { tenant, owner }: TaskScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShownWorkflow> {
    const store = this.store.inTenant(tenant);
    const named = WorkflowBody.from({ ...body.sent, name });
    const checked = await this.checks.checkSavable(named, strict, store, { tenant });
    const conditions = RevisionConditions.fromChangeHeaders(headers);
    const { saved, created } = await this.saveRevision(checked, conditions, store, noteOf(owner));
    void reply.status(created ? 201 : 200).header('etag', etagOf(saved.revision));
    if (created) void reply.header('location', `/api/workflows/${name}`);
    return savedView(saved, checked.warnings);
  }

  @Delete(':name')
  @HttpCode(204)
  @ApiOperation({ summary: 'Deletes a workflow; its runs stay.' })
  @ApiHeader({ name: 'If-Match', required: false, description: 'ETag of the revision to delete.' })
  @ApiNoContentResponse()
  @ApiProblem(400, 'If-Match is malformed.')
  @ApiProblem(404, 'workflow not found')
  @ApiProblem(412, 'The condition of the request does not hold.')
  async deleteWorkflow(
    @Param('name') name: string,
    @Headers() headers: IncomingHttpHeaders,
    @Scope() { tenant }: TaskScope,
  ): Promise<void> {
    const store = this.store.inTenant(tenant);
    const conditions = RevisionConditions.fromChangeHeaders(headers);
    if (!conditions.given) {
      if (!(await store.delete(name))) throw unknownWorkflow();
      return;
    }
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const found = await store.get(name);
      if (!found) throw unknownWorkflow();
      conditions.assertRevision(name, found.revision);
      if (await store.delete(name, [found.revision])) return;
    }
    throw contentionProblem(name);
  }

  /**
   * Saves a definition under the conditions of the request. Despite concurrent saves, it replaces only the revision for
   * which the conditions were checked.
   * @throws ProblemError 409 if other callers change the workflow during MOST_TRIES attempts
   */
  private async saveRevision(
    { definition }: CheckedWorkflow,
    conditions: RevisionConditions,
    store: WorkflowStore,
    note: SaveNote,
  ): Promise<{ saved: WorkflowRevision; created: boolean }> {
    const { name } = definition;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const found = await store.get(name);
      conditions.assertRevision(name, found?.revision);
      const expected = conditions.given && found ? [found.revision] : undefined;
      const saved = found
        ? await store.replaceWorkflow(definition, expected, note)
        : await store.createWorkflow(definition, note);
      if (saved) return { saved, created: !found };
    }
    throw contentionProblem(name);
  }
}

import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { scopeOf } from '#libs/access';
import { NodeTypes } from '#libs/executor';
import { ApiProblem, ProblemError, readBody } from '#libs/platform';
import { isJsonObject } from '#libs/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WorkflowDefinition, WorkflowRevision } from '../workflow.js';
import { workflowProblems } from '../workflow-problems.js';
import { WorkflowStore } from '../workflow-store.js';
import { unknownWorkflow } from './runs.js';
import { definitionOf, WorkflowBody, WorkflowView, workflowView } from './workflow-body.js';

const PAGE = 500;

/** Workflows as callers keep them. A save is a new revision at once in force; runs under way keep theirs. */
@ApiTags('workflows')
@Controller('api/workflows')
export class WorkflowsController {
  constructor(
    private readonly store: WorkflowStore,
    private readonly nodeTypes: NodeTypes,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Creates a workflow.' })
  @ApiBody({ type: WorkflowBody })
  @ApiCreatedResponse({ type: WorkflowView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(409, 'There is a workflow of this name.')
  @ApiProblem(422, 'The graph is invalid: one entry per problem.')
  async create(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WorkflowView> {
    const definition = this.validDefinition(body);
    const created = await this.of(request).create(definition);
    if (!created) throw new ProblemError(409, `the workflow "${definition.name}" exists already`);
    void reply.header('location', `/api/workflows/${definition.name}`);
    return workflowView(created);
  }

  @Get()
  @ApiOperation({ summary: 'All workflows, by name.' })
  @ApiOkResponse({ type: [WorkflowView] })
  async list(@Req() request: FastifyRequest): Promise<WorkflowView[]> {
    const store = this.of(request);
    const found: WorkflowRevision[] = [];
    for (let page = PAGE; page === PAGE;) {
      const revisions = await store.list(PAGE, found.at(-1)?.definition.name);
      found.push(...revisions);
      page = revisions.length;
    }
    return found.map(workflowView);
  }

  @Get(':name')
  @ApiOperation({ summary: 'One workflow.' })
  @ApiOkResponse({ type: WorkflowView })
  @ApiProblem(404, 'workflow not found')
  async get(@Param('name') name: string, @Req() request: FastifyRequest): Promise<WorkflowView> {
    const found = await this.of(request).get(name);
    if (!found) throw unknownWorkflow();
    return workflowView(found);
  }

  @Put(':name')
  @ApiOperation({ summary: 'Replaces a workflow. Its name is that of the path.' })
  @ApiBody({ type: WorkflowBody })
  @ApiOkResponse({ type: WorkflowView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'workflow not found')
  @ApiProblem(422, 'The graph is invalid: one entry per problem.')
  async replace(
    @Param('name') name: string,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
  ): Promise<WorkflowView> {
    const store = this.of(request);
    if (!(await store.get(name))) throw unknownWorkflow();
    const definition = this.validDefinition(isJsonObject(body) ? { ...body, name } : body);
    const saved = await store.replace(definition);
    if (!saved) throw unknownWorkflow();
    return workflowView(saved);
  }

  @Delete(':name')
  @HttpCode(204)
  @ApiOperation({ summary: 'Deletes a workflow. Its runs stay.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'workflow not found')
  async delete(@Param('name') name: string, @Req() request: FastifyRequest): Promise<void> {
    if (!(await this.of(request).delete(name))) throw unknownWorkflow();
  }

  /** Workflows are shared within a tenant. */
  private of({ raw }: FastifyRequest): WorkflowStore {
    return this.store.inTenant(scopeOf(raw).tenant);
  }

  private validDefinition(body: unknown): WorkflowDefinition {
    const definition = definitionOf(readBody(WorkflowBody, body));
    const problems = workflowProblems(definition, this.nodeTypes);
    if (problems.length === 0) return definition;
    const errors = problems.map(({ path, message }) => ({ path, detail: message }));
    throw new ProblemError(422, errors.map((it) => it.detail).join('; '), errors);
  }
}

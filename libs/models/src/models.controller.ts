import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { Caller } from '#libs/access';
import { ApiProblem, cutPage, malformedRequest, namedPage, ProblemError } from '#libs/http';
import { OutboundHttp } from '#libs/outbound';
import type { FastifyReply } from 'fastify';
import { ModelBody, ModelReplacement } from './model-body.js';
import { ModelNamers } from './model-namers.js';
import { ModelQuery } from './model-query.js';
import { ModelStore } from './model-store.js';
import { ModelListView, ModelView, modelView } from './model-view.js';
import { MODEL_NAME, type ModelDefinition } from './stored-model.js';

const MOST_NAMED = 20;

/** Manages the tenant's models. Their credentials are stored separately. */
@ApiTags('models')
@Controller('api/models')
export class ModelsController {
  constructor(
    private readonly store: ModelStore,
    private readonly namers: ModelNamers,
    private readonly http: OutboundHttp,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Keeps a new model.' })
  @ApiCreatedResponse({ type: ModelView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(409, 'There is a model of this name.')
  @ApiProblem(422, 'The tenant keeps as many models as it may.')
  async createModel(
    @Body() body: ModelBody,
    @Caller() { tenant }: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ModelView> {
    const { name } = body;
    const created = await this.store.createModel({ tenant, name }, this.permittedDefinition(body));
    if (!created) throw new ProblemError(409, `the model "${name}" exists already`);
    void reply.header('location', `/api/models/${name}`);
    return modelView(created);
  }

  @Get()
  @ApiOperation({ summary: 'All models, by name.' })
  @ApiOkResponse({ type: ModelListView })
  @ApiProblem(400, 'A parameter is malformed.')
  async listModels(@Query() query: ModelQuery, @Caller() { tenant }: Caller): Promise<ModelListView> {
    const { page, nextPageToken } = cutPage(await this.store.listModels(tenant, namedPage(query)), query.pageSize);
    return { models: page.map(modelView), nextPageToken };
  }

  @Get(':name')
  @ApiOperation({ summary: 'One model.' })
  @ApiOkResponse({ type: ModelView })
  @ApiProblem(404, 'model not found')
  async getModel(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<ModelView> {
    const found = MODEL_NAME.test(name) && (await this.store.get({ tenant, name }));
    if (!found) throw unknownModel();
    return modelView(found);
  }

  @Put(':name')
  @ApiOperation({ summary: 'Replaces a model; a call that is under way goes on with what it was.' })
  @ApiBody({ type: ModelBody })
  @ApiOkResponse({ type: ModelView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'model not found')
  async replaceModel(
    @Param('name') name: string,
    @Body() body: ModelReplacement,
    @Caller() { tenant }: Caller,
  ): Promise<ModelView> {
    const replaced =
      MODEL_NAME.test(name) && (await this.store.replaceModel({ tenant, name }, this.permittedDefinition(body)));
    if (!replaced) throw unknownModel();
    return modelView(replaced);
  }

  @Delete(':name')
  @HttpCode(204)
  @ApiOperation({ summary: 'Deletes a model that no workflow names.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'model not found')
  @ApiProblem(409, 'A workflow names it.')
  async deleteModel(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<void> {
    if (!MODEL_NAME.test(name) || !(await this.store.get({ tenant, name }))) throw unknownModel();
    const workflows = await this.namers.findNamingWorkflows(tenant, name);
    if (workflows.length > 0) throw stillNamed(name, workflows);
    if (!(await this.store.delete({ tenant, name }))) throw unknownModel();
  }

  /**
   * Returns the definition, unless its address is known to be refused; without a DNS lookup. @throws ProblemError 400
   */
  private permittedDefinition({ definition }: ModelBody): ModelDefinition {
    const { baseUrl } = definition;
    if (baseUrl === undefined || this.http.mayPermit(new URL(baseUrl))) return definition;
    throw malformedRequest({ path: 'baseUrl', detail: 'must not be an address that this service does not call' });
  }
}

function unknownModel(): ProblemError {
  return new ProblemError(404, 'model not found');
}

function stillNamed(name: string, workflows: readonly string[]): ProblemError {
  const named = workflows.slice(0, MOST_NAMED);
  const others = workflows.length > MOST_NAMED ? ` and ${workflows.length - MOST_NAMED} more` : '';
  const entries = named.map((workflow) => ({ path: `workflows/${workflow}`, detail: 'names the model' }));
  return new ProblemError(409, `workflows name the model "${name}": ${named.join(', ')}${others}`, entries);
}

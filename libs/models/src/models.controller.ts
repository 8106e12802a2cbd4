import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
} from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsObject, IsString, Matches, MaxLength, ValidateNested } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { Caller } from '#libs/access';
import { OutboundHttp } from '#libs/http-client';
import {
  ApiClosed,
  ApiProblem,
  assertCallable,
  cutPage,
  EachEntry,
  IfGiven,
  LOCATION_HEADER,
  malformedRequest,
  namedPage,
  ProblemError,
  QueryPageToken,
  QueryWholePageSize,
  stillNamed,
  withMembers,
} from '#libs/http-server';
import { isJsonObject, isPlainText, type JsonValue, LONGEST_URL, TOO_LONG_URL, withoutTrailing } from '#libs/protocol';
import {
  MODEL_NAME,
  MODEL_PROVIDERS,
  type ModelDefinition,
  type ModelProvider,
  type StoredModel,
} from './model-definition.js';
import { ModelDefaults, toPlainDefaults } from './model-defaults.js';
import { ModelPrice, toPlainPrice } from './model-price.js';
import { ModelStore, MOST_MODELS } from './model-store.js';
import { ECHO_MODEL, Models } from './models.js';

const MOST_MEDIA_TYPES = 20;
const MEDIA_TYPE = /^[a-z]+\/(\*|[a-z0-9][a-z0-9.+-]{0,100})$/;
const NAME_AT_PROVIDER = /^[\x21-\x7e]{1,200}$/;
const NAME_FORM = 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen';

/** Model as callers send it. */
@ApiClosed()
export class ModelBody {
  static readonly unknown: string = 'is not a field of a model';

  @ApiProperty({ pattern: MODEL_NAME.source, example: 'large', description: 'Name that nodes use; never `echo`.' })
  @Matches(MODEL_NAME, { message: NAME_FORM })
  name!: string;

  @ApiProperty({ enum: MODEL_PROVIDERS })
  @IsIn(MODEL_PROVIDERS, { message: `must be one of ${MODEL_PROVIDERS.join(', ')}` })
  provider!: ModelProvider;

  @ApiProperty({
    pattern: NAME_AT_PROVIDER.source,
    example: 'gpt-large',
    description: 'Name of the model at the provider.',
  })
  @Matches(NAME_AT_PROVIDER, { message: 'must be 1 to 200 visible ASCII characters without spaces' })
  model!: string;

  @ApiPropertyOptional({
    format: 'uri',
    maxLength: LONGEST_URL,
    description: 'Base URL of the provider, such as `https://models.example.com/v1`; required for `openai-compatible`.',
    example: 'https://models.example.com/v1',
  })
  @IfGiven()
  @MaxLength(LONGEST_URL, { message: TOO_LONG_URL })
  @IsString({ message: 'must be a string' })
  baseUrl?: string;

  @ApiPropertyOptional({
    pattern: MODEL_NAME.source,
    description: 'Name of the credential for calls: `bearer` for OpenAI, `api-key` for Anthropic and Google.',
    example: 'provider-key',
  })
  @IfGiven()
  @Matches(MODEL_NAME, { message: 'must be the name of a credential' })
  auth?: string;

  @ApiPropertyOptional({
    type: [String],
    maxItems: MOST_MEDIA_TYPES,
    default: [],
    description: 'Media types of Parts that the model accepts beside text and data.',
    example: ['image/*', 'application/pdf'],
  })
  @IfGiven()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(MOST_MEDIA_TYPES, { message: `must have at most ${MOST_MEDIA_TYPES} entries` })
  @EachEntry((it) => typeof it === 'string' && MEDIA_TYPE.test(it), 'must be a media type such as image/png or image/*')
  input?: string[];

  @ApiPropertyOptional({ type: ModelPrice, description: 'Prices of the tokens; absent: the cost is unknown.' })
  @IfGiven()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  price?: ModelPrice;

  @ApiPropertyOptional({
    type: ModelDefaults,
    description: 'Settings of the calls of nodes that set none; absent: the defaults of the provider.',
  })
  @IfGiven()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  defaults?: ModelDefaults;

  static from(sent: object): ModelBody {
    const { price, defaults } = sent as { price?: JsonValue; defaults?: JsonValue };
    return withMembers(ModelBody, {
      ...sent,
      ...(isJsonObject(price) && { price: withMembers(ModelPrice, price) }),
      ...(isJsonObject(defaults) && { defaults: withMembers(ModelDefaults, defaults) }),
    });
  }

  /**
   * Definition to store. @throws ProblemError 400 if `name` is the name of the built-in model, or `baseUrl` is missing
   * or invalid
   */
  get definition(): ModelDefinition {
    const { provider, model, auth, input = [], price, defaults } = this;
    const baseUrl = this.baseUrl === undefined ? undefined : withoutTrailing(this.baseUrl, '/');
    if (this.name === ECHO_MODEL) throw malformedRequest({ path: 'name', detail: 'is that of the built-in model' });
    if (baseUrl === undefined && provider === 'openai-compatible')
      throw malformedRequest({ path: 'baseUrl', detail: 'is required: an OpenAI-compatible model may be anywhere' });
    if (baseUrl !== undefined && !isPlainHttpUrl(baseUrl))
      throw malformedRequest({
        path: 'baseUrl',
        detail: 'must be an http or https URL without credentials, query or fragment',
      });
    return {
      provider,
      model,
      ...(baseUrl !== undefined && { baseUrl }),
      ...(auth !== undefined && { auth }),
      input: [...new Set(input)],
      ...(price && { price: toPlainPrice(price) }),
      ...(defaults && { defaults: toPlainDefaults(defaults) }),
    };
  }
}

/** Body that replaces a model. The name comes from the path; a name in the body is ignored. */
class ModelReplacement extends ModelBody {
  static override from(sent: object): ModelBody {
    return super.from({ ...sent, name: 'named-by-its-path' });
  }
}

function isPlainHttpUrl(text: string): boolean {
  if (!isPlainText(text) || !URL.canParse(text)) return false;
  const { protocol, username, password, hash, search } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${hash}${search}` === '';
}

/** Finds the workflows that use a model. The API refuses to delete a model while a workflow uses it. */
export abstract class ModelNamers {
  /** Returns the names of a tenant's workflows whose newest revision names the model. */
  abstract findNamingWorkflows(tenant: string, model: string): Promise<string[]>;
}

/** Query of one page of the list of models. */
class ModelQuery {
  @QueryWholePageSize(MOST_MODELS)
  pageSize = MOST_MODELS;

  @QueryPageToken((token) => MODEL_NAME.test(token), 'large')
  pageToken?: string;
}

/** Model as callers see it. */
class ModelView {
  @ApiProperty({ example: 'large' })
  name!: string;

  @ApiProperty({ enum: MODEL_PROVIDERS })
  provider!: ModelProvider;

  @ApiProperty({ example: 'gpt-large' })
  model!: string;

  @ApiPropertyOptional({ format: 'uri', example: 'https://models.example.com/v1' })
  baseUrl?: string;

  @ApiPropertyOptional({ example: 'provider-key' })
  auth?: string;

  @ApiProperty({ type: [String], example: ['image/*'] })
  input!: string[];

  @ApiPropertyOptional({ type: ModelPrice })
  price?: ModelPrice;

  @ApiPropertyOptional({ type: ModelDefaults })
  defaults?: ModelDefaults;

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt!: string;
}

class ModelListView {
  @ApiProperty({ type: [ModelView] })
  models!: ModelView[];

  @ApiProperty({
    description: 'Model for nodes that name none; `echo` if the operator set none, which repeats its input.',
    example: 'echo',
  })
  defaultModel!: string;

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

function modelView(stored: StoredModel): ModelView {
  const { name, provider, model, baseUrl, auth, input, price, defaults, createdAt, updatedAt } = stored;
  return {
    name,
    provider,
    model,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(auth !== undefined && { auth }),
    input,
    ...(price && { price }),
    ...(defaults && { defaults }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** Manages the models of a tenant. Their credentials are managed under `/api/credentials`. */
@ApiTags('models')
@Controller('api/models')
export class ModelsController {
  constructor(
    private readonly store: ModelStore,
    private readonly models: Models,
    private readonly namers: ModelNamers,
    private readonly http: OutboundHttp,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Stores a new model.' })
  @ApiCreatedResponse({ type: ModelView, ...LOCATION_HEADER })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(409, 'A model of this name exists already.')
  @ApiProblem(422, 'The tenant has reached its limit of models.')
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
  @ApiOperation({ summary: 'Lists models by name.' })
  @ApiOkResponse({ type: ModelListView })
  @ApiProblem(400, 'A parameter is malformed.')
  async listModels(@Query() query: ModelQuery, @Caller() { tenant }: Caller): Promise<ModelListView> {
    const { page, nextPageToken } = cutPage(await this.store.listModels(tenant, namedPage(query)), query.pageSize);
    return { models: page.map(modelView), defaultModel: this.models.defaultModel.name, nextPageToken };
  }

  @Get(':name')
  @ApiOperation({ summary: 'Returns one model.' })
  @ApiOkResponse({ type: ModelView })
  @ApiProblem(404, 'model not found')
  async getModel(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<ModelView> {
    const found = MODEL_NAME.test(name) && (await this.store.get({ tenant, name }));
    if (!found) throw unknownModel();
    return modelView(found);
  }

  @Put(':name')
  @ApiOperation({ summary: 'Replaces a model; calls under way keep the previous definition.' })
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
  @ApiProblem(409, 'A workflow names the model.')
  async deleteModel(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<void> {
    if (!MODEL_NAME.test(name) || !(await this.store.get({ tenant, name }))) throw unknownModel();
    const workflows = await this.namers.findNamingWorkflows(tenant, name);
    if (workflows.length > 0)
      throw stillNamed({ kind: 'model', name }, { path: 'workflows', plural: 'workflows' }, workflows);
    if (!(await this.store.delete({ tenant, name }))) throw unknownModel();
  }

  /** Returns the definition. @throws ProblemError 400 if its `baseUrl` is an address that this service may not call */
  private permittedDefinition({ definition }: ModelBody): ModelDefinition {
    if (definition.baseUrl !== undefined) assertCallable(this.http, definition.baseUrl, 'baseUrl');
    return definition;
  }
}

function unknownModel(): ProblemError {
  return new ProblemError(404, 'model not found');
}

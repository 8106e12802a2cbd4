import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Caller } from '#libs/access';
import { OutboundHttp } from '#libs/http-client';
import {
  ApiProblem,
  assertCallable,
  cutPage,
  LOCATION_HEADER,
  namedPage,
  ProblemError,
  QueryPageToken,
  QueryWholePageSize,
  stillNamed,
} from '#libs/http-server';
import { ApiCredentialBody, CredentialBody, OAuth2Body, ReplacementBody } from './credential-body.js';
import { CredentialStore, MOST_CREDENTIALS } from './credential-store.js';
import { type Credential, CREDENTIAL_KINDS, CREDENTIAL_NAME, type CredentialKind } from './credential.js';

/** Finds references to credentials. Before the API deletes a credential, it checks here that nothing refers to it. */
export abstract class CredentialNamers {
  /** Returns the names of a tenant's workflows whose newest revision references a credential. */
  abstract workflows(tenant: string, credential: string): Promise<string[]>;
  /** Returns the names of a tenant's models that reference a credential. */
  abstract models(tenant: string, credential: string): Promise<string[]>;
  /** Returns the names of MCP servers that reference a credential: those of the tenant, and shared ones. */
  abstract servers(tenant: string, credential: string): Promise<string[]>;
  /** Returns the names of a tenant's registered agents that reference a credential. */
  abstract registeredAgents(tenant: string, credential: string): Promise<string[]>;
  /** Returns the names of a tenant's triggers whose webhook has the secret of a credential. */
  abstract findTriggers(tenant: string, credential: string): Promise<string[]>;
}

/** Query parameters that filter and page the list of credentials. */
class CredentialQuery {
  @QueryWholePageSize(MOST_CREDENTIALS)
  pageSize = MOST_CREDENTIALS;

  @QueryPageToken((token) => CREDENTIAL_NAME.test(token), 'partner')
  pageToken?: string;
}

class LastError {
  @ApiProperty({ format: 'date-time' })
  at!: string;

  @ApiProperty({ example: 'the agent answered 401' })
  message!: string;
}

/** Credential as the API returns it, without the secret. It also has the members of its kind. */
class CredentialView {
  @ApiProperty({ example: 'partner' })
  name!: string;

  @ApiProperty({ enum: CREDENTIAL_KINDS })
  kind!: CredentialKind;

  @ApiPropertyOptional({
    type: [String],
    description: 'Origins that may receive the credential.',
    example: ['https://api.example.com'],
  })
  hosts?: string[];

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt!: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Time of the last use, accurate to ten seconds.' })
  lastUsedAt?: string;

  @ApiPropertyOptional({ type: LastError, description: 'Last failure; replacing the credential clears it.' })
  lastError?: LastError;
}

class CredentialListView {
  @ApiProperty({ type: [CredentialView] })
  credentials!: CredentialView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

function credentialView(credential: Credential): CredentialView {
  const { name, settings, createdAt, updatedAt, lastUsedAt, lastError } = credential;
  return {
    name,
    ...settings,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    ...(lastUsedAt && { lastUsedAt: lastUsedAt.toISOString() }),
    ...(lastError && { lastError: { at: lastError.at.toISOString(), message: lastError.message } }),
  };
}

/**
 * Kinds of objects that may reference a credential. `by`: method of CredentialNamers that finds the objects. `path`:
 * path of the objects in the management API. `plural`: noun for error messages.
 */
const NAMERS = [
  { by: 'workflows', path: 'workflows', plural: 'workflows' },
  { by: 'models', path: 'models', plural: 'models' },
  { by: 'servers', path: 'mcp-servers', plural: 'MCP servers' },
  { by: 'registeredAgents', path: 'agents', plural: 'registered agents' },
  { by: 'findTriggers', path: 'triggers', plural: 'triggers' },
] as const;

/**
 * Manages the credentials of calls to agents and models. They belong to the tenant; a stored secret is never shown
 * again.
 */
@ApiTags('credentials')
@Controller('api/credentials')
export class CredentialsController {
  constructor(
    private readonly store: CredentialStore,
    private readonly namers: CredentialNamers,
    private readonly http: OutboundHttp,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Stores a new credential.' })
  @ApiCredentialBody()
  @ApiCreatedResponse({ type: CredentialView, ...LOCATION_HEADER })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(409, 'A credential of this name exists already.')
  @ApiProblem(422, 'The tenant has reached its limit of credentials.')
  async createCredential(
    @Body() body: CredentialBody,
    @Caller() { tenant }: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CredentialView> {
    this.requirePermitted(body);
    const { name, settings, secret } = body;
    const created = await this.store.createCredential({ tenant, name }, settings, secret);
    if (!created) throw new ProblemError(409, `the credential "${name}" exists already`);
    void reply.header('location', `/api/credentials/${name}`);
    return credentialView(created);
  }

  @Get()
  @ApiOperation({ summary: 'Lists credentials by name, without their secrets.' })
  @ApiOkResponse({ type: CredentialListView })
  @ApiProblem(400, 'A parameter is malformed.')
  async listCredentials(@Query() query: CredentialQuery, @Caller() { tenant }: Caller): Promise<CredentialListView> {
    const { page, nextPageToken } = cutPage(await this.store.listCredentials(tenant, namedPage(query)), query.pageSize);
    return { credentials: page.map(credentialView), nextPageToken };
  }

  @Get(':name')
  @ApiOperation({ summary: 'Returns one credential, without its secret.' })
  @ApiOkResponse({ type: CredentialView })
  @ApiProblem(404, 'credential not found')
  async getCredential(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<CredentialView> {
    const found = CREDENTIAL_NAME.test(name) && (await this.store.get({ tenant, name }));
    if (!found) throw unknownCredential();
    return credentialView(found);
  }

  @Put(':name')
  @ApiOperation({
    summary: 'Replaces a credential including its secret: a stored secret cannot get another destination.',
  })
  @ApiCredentialBody()
  @ApiOkResponse({ type: CredentialView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'credential not found')
  async replaceCredential(
    @Param('name') name: string,
    @Body() body: ReplacementBody,
    @Caller() { tenant }: Caller,
  ): Promise<CredentialView> {
    if (!CREDENTIAL_NAME.test(name)) throw unknownCredential();
    this.requirePermitted(body);
    const replaced = await this.store.replaceCredential({ tenant, name }, body.settings, body.secret);
    if (!replaced) throw unknownCredential();
    return credentialView(replaced);
  }

  @Delete(':name')
  @HttpCode(204)
  @ApiOperation({ summary: 'Deletes a credential that no workflow, model, MCP server, agent or trigger names.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'credential not found')
  @ApiProblem(409, 'A workflow, a model, an MCP server, an agent or a trigger names the credential.')
  async deleteCredential(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<void> {
    const id = { tenant, name };
    if (!CREDENTIAL_NAME.test(name) || !(await this.store.get(id))) throw unknownCredential();
    for (const namer of NAMERS) {
      const naming = await this.namers[namer.by](id.tenant, name);
      if (naming.length > 0) throw stillNamed({ kind: 'credential', name }, namer, naming);
    }
    if (!(await this.store.delete(id))) throw unknownCredential();
  }

  /** Checks that a token URL may be called (see `assertCallable`). */
  private requirePermitted(body: CredentialBody): void {
    if (body instanceof OAuth2Body) assertCallable(this.http, body.tokenUrl, 'tokenUrl');
  }
}

function unknownCredential(): ProblemError {
  return new ProblemError(404, 'credential not found');
}

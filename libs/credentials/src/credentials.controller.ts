import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { scopeOf } from '#libs/access';
import { ApiProblem, ProblemError } from '#libs/http';
import { OutboundHttp } from '#libs/outbound';
import { isJsonObject } from '#libs/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type GivenCredential, readCredentialBody } from './credential-body.js';
import { CredentialNamers } from './credential-namers.js';
import { CREDENTIAL_BODY } from './credential-schema.js';
import { CredentialStore } from './credential-store.js';
import { CREDENTIAL_NAME } from './credential.js';
import { CredentialListView, CredentialView, credentialView } from './credential-view.js';

const MOST_NAMED = 20;

/** The credentials that calls to agents carry. They belong to the tenant; a secret that came in is never shown again. */
@ApiTags('credentials')
@ApiBearerAuth()
@Controller('api/credentials')
@ApiProblem(403, 'The caller lacks the scope admin.')
export class CredentialsController {
  constructor(
    private readonly store: CredentialStore,
    private readonly namers: CredentialNamers,
    private readonly http: OutboundHttp,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Keeps a new credential.' })
  @ApiBody(CREDENTIAL_BODY)
  @ApiCreatedResponse({ type: CredentialView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(409, 'There is a credential of this name.')
  async create(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CredentialView> {
    const { name, settings, secret } = this.read(body);
    const created = await this.store.create({ tenant: tenantOf(request), name }, settings, secret);
    if (!created) throw new ProblemError(409, `the credential "${name}" exists already`);
    void reply.header('location', `/api/credentials/${name}`);
    return credentialView(created);
  }

  @Get()
  @ApiOperation({ summary: 'All credentials, by name; never their secrets.' })
  @ApiOkResponse({ type: CredentialListView })
  async list(@Req() request: FastifyRequest): Promise<CredentialListView> {
    const found = await this.store.list(tenantOf(request));
    return { credentials: found.map(credentialView) };
  }

  @Get(':name')
  @ApiOperation({ summary: 'One credential; never its secret.' })
  @ApiOkResponse({ type: CredentialView })
  @ApiProblem(404, 'credential not found')
  async get(@Param('name') name: string, @Req() request: FastifyRequest): Promise<CredentialView> {
    const found = CREDENTIAL_NAME.test(name) && (await this.store.get({ tenant: tenantOf(request), name }));
    if (!found) throw unknownCredential();
    return credentialView(found);
  }

  @Put(':name')
  @ApiOperation({
    summary: 'Replaces a credential, its secret too: a secret that is kept cannot be given another destination.',
  })
  @ApiBody(CREDENTIAL_BODY)
  @ApiOkResponse({ type: CredentialView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'credential not found')
  async replace(
    @Param('name') name: string,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
  ): Promise<CredentialView> {
    if (!CREDENTIAL_NAME.test(name)) throw unknownCredential();
    const { settings, secret } = this.read(isJsonObject(body) ? { ...body, name } : body);
    const replaced = await this.store.replace({ tenant: tenantOf(request), name }, settings, secret);
    if (!replaced) throw unknownCredential();
    return credentialView(replaced);
  }

  @Delete(':name')
  @HttpCode(204)
  @ApiOperation({ summary: 'Deletes a credential that no workflow names.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'credential not found')
  @ApiProblem(409, 'A workflow names it.')
  async delete(@Param('name') name: string, @Req() request: FastifyRequest): Promise<void> {
    const id = { tenant: tenantOf(request), name };
    if (!CREDENTIAL_NAME.test(name) || !(await this.store.get(id))) throw unknownCredential();
    const workflows = await this.namers.workflows(id.tenant, name);
    if (workflows.length > 0) throw stillNamed(name, workflows);
    if (!(await this.store.delete(id))) throw unknownCredential();
  }

  private read(body: unknown): GivenCredential {
    return readCredentialBody(body, (url) => this.http.mayPermit(url));
  }
}

function tenantOf(request: FastifyRequest): string {
  return scopeOf(request.raw).tenant;
}

function unknownCredential(): ProblemError {
  return new ProblemError(404, 'credential not found');
}

function stillNamed(name: string, workflows: readonly string[]): ProblemError {
  const named = workflows.slice(0, MOST_NAMED);
  const others = workflows.length > MOST_NAMED ? ` and ${workflows.length - MOST_NAMED} more` : '';
  const entries = named.map((workflow) => ({ path: `workflows/${workflow}`, detail: 'names the credential' }));
  return new ProblemError(409, `workflows name the credential "${name}": ${named.join(', ')}${others}`, entries);
}

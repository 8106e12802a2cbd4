import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Caller } from '#libs/access';
import { ApiProblem, cutPage, LOCATION_HEADER, namedPage, ProblemError } from '#libs/http-server';
import { AGENT_NAME, type RegisteredAgent, RegisteredAgents } from '../agents/registered-agents.js';
import { RelayLimits } from '../relay/relay-limits.js';
import { RelayRemoval } from '../relay/relay-removal.js';
import {
  RegisteredAgentBody,
  RegisteredAgentListView,
  RegisteredAgentQuery,
  RegisteredAgentReplacementBody,
  RegisteredAgentView,
  registeredAgentView,
} from './registered-agent-body.js';
import { RegistrationCheck } from './registration-check.js';

/** Manages the remote agents that this service serves, each at `/a2a/agents/{name}`. They belong to the tenant. */
@ApiTags('agents')
@Controller('api/agents')
export class RegisteredAgentsController {
  constructor(
    private readonly agents: RegisteredAgents,
    private readonly check: RegistrationCheck,
    private readonly limits: RelayLimits,
    private readonly removal: RelayRemoval,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Registers an agent elsewhere: reads and pins its card, and serves the agent here.' })
  @ApiCreatedResponse({ type: RegisteredAgentView, ...LOCATION_HEADER })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(409, 'An agent of this name exists already.')
  @ApiProblem(422, 'The agent cannot be served: it has no usable card; or the tenant has reached its limit of agents.')
  async createRegisteredAgent(
    @Body() body: RegisteredAgentBody,
    @Caller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RegisteredAgentView> {
    const { name, definition } = body;
    const { tenant } = caller;
    this.check.requirePermitted(body);
    if (await this.agents.get(tenant, name)) throw nameTaken(name);
    const card = await this.check.readCard(body, caller);
    const created = await this.agents.createAgent(tenant, name, definition, card);
    if (!created) throw nameTaken(name);
    void reply.header('location', `/api/agents/${name}`);
    return this.toView(created);
  }

  @Get()
  @ApiOperation({ summary: 'Lists registered agents by name.' })
  @ApiOkResponse({ type: RegisteredAgentListView })
  @ApiProblem(400, 'A parameter is malformed.')
  async listRegisteredAgents(
    @Query() query: RegisteredAgentQuery,
    @Caller() { tenant }: Caller,
  ): Promise<RegisteredAgentListView> {
    const found = await this.agents.listAgents(tenant, namedPage(query));
    const { page, nextPageToken } = cutPage(found, query.pageSize);
    return { agents: page.map((it) => this.toView(it)), nextPageToken };
  }

  @Get(':name')
  @ApiOperation({ summary: 'Returns one registered agent.' })
  @ApiOkResponse({ type: RegisteredAgentView })
  @ApiProblem(404, 'agent not found')
  async getRegisteredAgent(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<RegisteredAgentView> {
    return this.toView(await this.findExisting(tenant, name));
  }

  @Put(':name')
  @ApiOperation({ summary: 'Replaces a registered agent: reads and pins its card again.' })
  @ApiOkResponse({ type: RegisteredAgentView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'agent not found')
  @ApiProblem(422, 'The agent cannot be served: it has no usable card.')
  async replaceRegisteredAgent(
    @Param('name') name: string,
    @Body() body: RegisteredAgentReplacementBody,
    @Caller() caller: Caller,
  ): Promise<RegisteredAgentView> {
    await this.findExisting(caller.tenant, name);
    this.check.requirePermitted(body);
    const card = await this.check.readCard(body, caller);
    const replaced = await this.agents.replaceAgent(caller.tenant, name, body.definition, card);
    if (!replaced) throw unknownAgent();
    return this.toView(replaced);
  }

  @Delete(':name')
  @HttpCode(204)
  @ApiOperation({ summary: 'Deletes a registered agent. Its Tasks can still be read.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'agent not found')
  async deleteRegisteredAgent(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<void> {
    const agent = await this.findExisting(tenant, name);
    if (!(await this.agents.delete(tenant, name))) throw unknownAgent();
    await this.limits.forgetAgent(tenant, name);
    this.removal.endParkedTasks(agent);
  }

  private toView(agent: RegisteredAgent): RegisteredAgentView {
    return registeredAgentView(agent);
  }

  /** Returns the agent of a name. @throws ProblemError 404 */
  private async findExisting(tenant: string, name: string): Promise<RegisteredAgent> {
    const agent = AGENT_NAME.test(name) ? await this.agents.get(tenant, name) : undefined;
    if (!agent) throw unknownAgent();
    return agent;
  }
}

function nameTaken(name: string): ProblemError {
  return new ProblemError(409, `the agent "${name}" exists already`);
}

function unknownAgent(): ProblemError {
  return new ProblemError(404, 'agent not found');
}

import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Caller } from '#libs/access';
import { AgentCallError, AgentDirectory, isOfService } from '#libs/a2a-client';
import { OutboundHttp } from '#libs/http-client';
import {
  ApiProblem,
  assertCallable,
  cutPage,
  malformedRequest,
  namedPage,
  ProblemError,
  ServiceAddress,
} from '#libs/http-server';
import type { AgentCard } from '#libs/protocol';
import { AGENT_NAME, type RegisteredAgent, RegisteredAgents } from '../agents/registered-agents.js';
import { requireCarried } from '../relay/relay-card.js';
import { RelayLimits } from '../relay/relay-limits.js';
import {
  RegisteredAgentBody,
  RegisteredAgentListView,
  RegisteredAgentQuery,
  RegisteredAgentReplacementBody,
  RegisteredAgentView,
  registeredAgentView,
} from './registered-agent-body.js';

/** Milliseconds for reading the card of an agent that is saved. */
const CARD_MS = 15_000;

/** Manages the agents elsewhere that are served here, each at `/a2a/agents/{name}`. They belong to the tenant. */
@ApiTags('agents')
@Controller('api/agents')
export class RegisteredAgentsController {
  constructor(
    private readonly agents: RegisteredAgents,
    private readonly directory: AgentDirectory,
    private readonly http: OutboundHttp,
    private readonly address: ServiceAddress,
    private readonly limits: RelayLimits,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Registers an agent elsewhere: reads and pins its card, and serves the agent here.' })
  @ApiCreatedResponse({ type: RegisteredAgentView })
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
    this.requirePermitted(body);
    if (await this.agents.get(tenant, name)) throw nameTaken(name);
    const card = await this.readCard(body, caller);
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
    this.requirePermitted(body);
    const card = await this.readCard(body, caller);
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
    if (!AGENT_NAME.test(name) || !(await this.agents.delete(tenant, name))) throw unknownAgent();
    await this.limits.forgetAgent(tenant, name);
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

  /**
   * Rejects a URL that may not be called, as far as that is known without a DNS lookup, and that of this service itself.
   * @throws ProblemError 400
   */
  private requirePermitted({ url }: RegisteredAgentBody): void {
    const { href } = new URL(url);
    if (this.address.ownPath(href) !== undefined || isOfService(href, this.address.ownUrls))
      throw malformedRequest({ path: 'url', detail: 'must not be an agent of this service' });
    assertCallable(this.http, url, 'url');
  }

  /** Reads the card of an agent, which pins it. @throws ProblemError 422 that says why there is none */
  private async readCard({ url }: RegisteredAgentBody, { tenant, owner }: Caller): Promise<AgentCard> {
    try {
      const options = {
        scope: { tenant, owner },
        timeouts: { total: CARD_MS, refused: 0 },
        signal: AbortSignal.timeout(CARD_MS),
      };
      const card = await this.directory.resolveCard(url, options);
      if (!card) throw new AgentCallError('invalid-response', 'there is no agent card');
      requireCarried(card);
      return card;
    } catch (error) {
      if (!(error instanceof AgentCallError)) throw error;
      const detail = `the agent cannot be registered: ${error.publicMessage}`;
      throw new ProblemError(422, `url: ${detail}`, [{ path: 'url', detail }]);
    }
  }
}

function nameTaken(name: string): ProblemError {
  return new ProblemError(409, `the agent "${name}" exists already`);
}

function unknownAgent(): ProblemError {
  return new ProblemError(404, 'agent not found');
}

import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { apiCall, scopeOf } from '#libs/access';
import { ApiEventStream, ApiIdempotent, ApiPages, ApiProblem, readBody, ServiceAddress } from '#libs/http';
import { IdempotencyKey, ProcessStreams } from '#libs/process';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BrainstormStatus } from '../brainstorm-progress.js';
import type { StoppedAgent } from '../brainstorm-steps.js';
import { BRAINSTORM_PAGE_SCHEMA, BRAINSTORM_SCHEMA, STARTED_SCHEMA, STATUS_SCHEMA } from './brainstorm-schemas.js';
import { BrainstormBody, wantedOf } from './brainstorm-body.js';
import { BrainstormList, type BrainstormPage, readBrainstormQuery, STATUSES } from './brainstorm-list.js';
import type { BrainstormView } from './brainstorm-view.js';
import { Brainstorms } from './brainstorms.js';

/** What a change of a brainstorm answers. */
interface StatusReport {
  brainstormId: string;
  status: BrainstormStatus;
  stopped?: StoppedAgent[];
}

@ApiTags('brainstorms')
@Controller('api/brainstorms')
export class BrainstormsController {
  constructor(
    private readonly brainstorms: Brainstorms,
    private readonly listing: BrainstormList,
    private readonly streams: ProcessStreams,
    private readonly address: ServiceAddress,
  ) {}

  @Post()
  @HttpCode(202)
  @ApiOperation({ summary: 'Starts a brainstorm and answers at once.' })
  @ApiBody({ type: BrainstormBody })
  @ApiAcceptedResponse({ schema: STARTED_SCHEMA })
  @ApiIdempotent('brainstorm')
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(422, 'An agent is not available, or a value is not allowed.')
  async start(
    @Body() body: unknown,
    @IdempotencyKey() key: string | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ brainstormId: string }> {
    const wanted = wantedOf(readBody(BrainstormBody, body));
    const brainstormId = await this.brainstorms.start(wanted, apiCall(request, this.address), key);
    void reply.header('location', `/api/brainstorms/${brainstormId}`);
    return { brainstormId };
  }

  @Get()
  @ApiPages('Brainstorms, the one that changed last first.', BRAINSTORM_PAGE_SCHEMA)
  @ApiQuery({ name: 'status', required: false, enum: STATUSES })
  list(@Query() query: Record<string, unknown>, @Req() request: FastifyRequest): Promise<BrainstormPage> {
    return this.listing.page(readBrainstormQuery(query), scopeOf(request.raw));
  }

  @Get(':id')
  @ApiOperation({ summary: 'One brainstorm with its state, its passes, and who set what.' })
  @ApiOkResponse({ schema: BRAINSTORM_SCHEMA })
  @ApiProblem(404, 'brainstorm not found')
  get(@Param('id') id: string, @Req() request: FastifyRequest): Promise<BrainstormView> {
    return this.brainstorms.show(id, scopeOf(request.raw));
  }

  @Get(':id/events')
  @ApiEventStream(
    "A brainstorm's events, from the first one or after a cursor, then live until it rests or has ended.",
    '`brainstorm.converged`, `.failed`, `.approved` or `.canceled`',
  )
  @ApiProblem(404, 'brainstorm not found')
  async events(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.streams.answer(request, reply, () => this.brainstorms.events(id, scopeOf(request.raw)));
  }

  @Post(':id/iterate')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Goes on with a brainstorm that has converged or failed.',
    description: 'A pass that failed goes on with the agent that failed. One that is active goes on anyway.',
  })
  @ApiAcceptedResponse({ schema: STATUS_SCHEMA })
  @ApiProblem(404, 'brainstorm not found')
  @ApiProblem(409, 'The brainstorm has ended.')
  async iterate(@Param('id') id: string, @Req() request: FastifyRequest): Promise<StatusReport> {
    await this.brainstorms.iterate(id, apiCall(request, this.address));
    return { brainstormId: id, status: 'active' };
  }

  @Post(':id/approve')
  @HttpCode(200)
  @ApiOperation({ summary: 'Ends a brainstorm with the state of its last complete pass.' })
  @ApiOkResponse({ schema: STATUS_SCHEMA })
  @ApiProblem(404, 'brainstorm not found')
  @ApiProblem(409, 'No pass is complete yet, or the brainstorm has ended otherwise.')
  async approve(@Param('id') id: string, @Req() request: FastifyRequest): Promise<StatusReport> {
    const { status } = await this.brainstorms.approve(id, apiCall(request, this.address));
    return { brainstormId: id, status };
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancels a brainstorm and tells what became of the agent at work.' })
  @ApiOkResponse({ schema: STATUS_SCHEMA })
  @ApiProblem(404, 'brainstorm not found')
  @ApiProblem(409, 'The brainstorm has ended otherwise.')
  async cancel(@Param('id') id: string, @Req() request: FastifyRequest): Promise<StatusReport> {
    const { status, stopped = [] } = await this.brainstorms.cancel(id, apiCall(request, this.address));
    return { brainstormId: id, status, stopped };
  }
}

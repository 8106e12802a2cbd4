import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { type ApiCall, Call, Scope } from '#libs/access';
import { IdempotencyKey, ProcessStreams } from '#libs/durable';
import {
  ApiEventStream,
  ApiIdempotent,
  ApiLargeAnswer,
  ApiProblem,
  Cursor,
  LOCATION_HEADER,
  type StreamCursor,
} from '#libs/http-server';
import type { TaskScope } from '#libs/tasks';
import { BRAINSTORM_EXAMPLES, BrainstormBody, wantedOf } from './brainstorm-body.js';
import {
  BrainstormId,
  BrainstormPage,
  BrainstormQuery,
  BrainstormStatusReport,
  BrainstormView,
} from './brainstorm.dto.js';
import { Brainstorms } from './brainstorms.js';

@ApiTags('brainstorms')
@Controller('api/brainstorms')
export class BrainstormsController {
  constructor(
    private readonly brainstorms: Brainstorms,
    private readonly streams: ProcessStreams,
  ) {}

  @Post()
  @HttpCode(202)
  @ApiOperation({ summary: 'Starts a brainstorm and answers at once.' })
  @ApiBody({ type: BrainstormBody, examples: BRAINSTORM_EXAMPLES })
  @ApiAcceptedResponse({ type: BrainstormId, ...LOCATION_HEADER })
  @ApiIdempotent('brainstorm')
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(422, 'An agent is not available, or a value is not allowed.')
  async startBrainstorm(
    @Body() body: BrainstormBody,
    @IdempotencyKey() key: string | undefined,
    @Call() call: ApiCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BrainstormId> {
    const brainstormId = await this.brainstorms.startBrainstorm(wantedOf(body), call, key);
    void reply.header('location', `/api/brainstorms/${brainstormId}`);
    return { brainstormId };
  }

  @Get()
  @ApiOperation({ summary: 'Lists brainstorms, most recently updated first.' })
  @ApiOkResponse({ type: BrainstormPage })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiLargeAnswer()
  listBrainstorms(@Query() query: BrainstormQuery, @Call() call: ApiCall): Promise<BrainstormPage> {
    return this.brainstorms.listBrainstorms(query, call);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Returns one brainstorm with its state, its passes, and the origin of each part.' })
  @ApiOkResponse({ type: BrainstormView })
  @ApiProblem(404, 'brainstorm not found')
  @ApiLargeAnswer()
  getBrainstorm(@Param('id') id: string, @Call() call: ApiCall): Promise<BrainstormView> {
    return this.brainstorms.showBrainstorm(id, call);
  }

  @Get(':id/events')
  @ApiEventStream(
    'Streams the events of a brainstorm, from the first or after a cursor, until it awaits input or has ended.',
    '`brainstorm.converged`, `.failed`, `.approved` or `.canceled`',
  )
  @ApiProblem(404, 'brainstorm not found')
  async streamBrainstormEvents(
    @Param('id') id: string,
    @Cursor() cursor: StreamCursor,
    @Scope() scope: TaskScope,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.streams.streamEvents(await this.brainstorms.findEvents(id, scope), cursor, reply);
  }

  @Post(':id/iterate')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Continues a brainstorm that has converged or failed.',
    description: 'A failed pass resumes with the agent that failed. An active brainstorm is left as it is.',
  })
  @ApiAcceptedResponse({ type: BrainstormStatusReport })
  @ApiProblem(404, 'brainstorm not found')
  @ApiProblem(409, 'The brainstorm has ended.')
  @ApiLargeAnswer()
  async iterateBrainstorm(@Param('id') id: string, @Call() call: ApiCall): Promise<BrainstormStatusReport> {
    await this.brainstorms.continueBrainstorm(id, call);
    return { brainstormId: id, status: 'active' };
  }

  @Post(':id/approve')
  @HttpCode(200)
  @ApiOperation({ summary: 'Approves a brainstorm: it ends with the state of its last complete pass.' })
  @ApiOkResponse({ type: BrainstormStatusReport })
  @ApiProblem(404, 'brainstorm not found')
  @ApiProblem(409, 'No pass is complete yet, or the brainstorm has another outcome.')
  @ApiLargeAnswer()
  async approveBrainstorm(@Param('id') id: string, @Call() call: ApiCall): Promise<BrainstormStatusReport> {
    const { status } = await this.brainstorms.approveBrainstorm(id, call);
    return { brainstormId: id, status };
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancels a brainstorm and reports the outcome at the active agent.' })
  @ApiOkResponse({ type: BrainstormStatusReport })
  @ApiProblem(404, 'brainstorm not found')
  @ApiProblem(409, 'The brainstorm has ended with another outcome.')
  @ApiLargeAnswer()
  async cancelBrainstorm(@Param('id') id: string, @Call() call: ApiCall): Promise<BrainstormStatusReport> {
    const { status, stopped = [] } = await this.brainstorms.cancelBrainstorm(id, call);
    return { brainstormId: id, status, stopped };
  }
}

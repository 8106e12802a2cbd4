import type { OutgoingHttpHeaders } from 'node:http';
import { Controller, Get, Headers, Query, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiProduces, ApiQuery, ApiTags } from '@nestjs/swagger';
import { scopeOf } from '#libs/access';
import { SseStream } from '#libs/http';
import { Shutdown } from '#libs/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EventGateway } from './event-gateway.js';

/** The event gateway as server-sent events. */
@ApiTags('events')
@Controller('api/events')
export class EventsController {
  constructor(
    private readonly gateway: EventGateway,
    private readonly shutdown: Shutdown,
  ) {}

  @Get()
  @ApiOperation({
    summary:
      'Everything that happens to what is yours, live: Tasks, runs and conversations. The WebSocket at /events gives the same.',
  })
  @ApiQuery({ name: 'streams', required: false, description: 'Names separated by commas; all but `tool` by default.' })
  @ApiQuery({ name: 'runId', required: false })
  @ApiQuery({ name: 'conversationId', required: false })
  @ApiQuery({ name: 'taskId', required: false })
  @ApiQuery({ name: 'contextId', required: false })
  @ApiQuery({ name: 'since', required: false, description: 'The cursor of the last frame; so is `Last-Event-ID`.' })
  @ApiProduces('text/event-stream')
  async events(
    @Query() query: Record<string, unknown>,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const wanted = this.gateway.read(lastEventId ? { ...query, since: lastEventId } : query, scopeOf(request.raw));
    reply.hijack();
    const ended = new AbortController();
    const end = (): void => ended.abort(ENDED);
    const stream = new SseStream(reply.raw, { headers: reply.getHeaders() as OutgoingHttpHeaders, onClose: end });
    this.shutdown.started.addEventListener('abort', end, { once: true });
    try {
      for await (const { cursor, text } of this.gateway.follow(wanted, ended.signal)) {
        await stream.send({ id: cursor, data: text });
      }
    } finally {
      this.shutdown.started.removeEventListener('abort', end);
      stream.end();
    }
  }
}

const ENDED = new Error('The stream has ended');

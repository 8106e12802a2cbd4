import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Scope } from '#libs/access';
import { ApiProblem, ProblemError, sendEvents, type SseFrame } from '#libs/http-server';
import { Shutdown } from '#libs/service';
import type { TaskScope } from '#libs/tasks';
import { EventGateway, type GatewayFrame } from './event-gateway.js';
import { EventsQuery } from './gateway-query.js';

const FRAME = 'id: mfx1k2\ndata: {"type":"hello","cursor":"mfx1k2"}\n\n';

/** Serves the event gateway as server-sent events. */
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
      'Streams the live events of your Tasks, runs and conversations; the WebSocket at /events streams the same.',
  })
  @ApiHeader({ name: 'Last-Event-ID', required: false, description: 'Same as `since`; takes precedence over it.' })
  @ApiOkResponse({
    description: 'Server-sent events: `id` is the cursor, `data` the frame as JSON. The first frame is a `hello`.',
    content: {
      'text/event-stream': { schema: { type: 'string' }, example: FRAME },
    },
  })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiProblem(410, 'The cursor is too old.')
  async streamEvents(
    @Query() query: EventsQuery,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Scope() scope: TaskScope,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const wanted = this.gateway.parseQuery(lastEventId ? { ...query, since: lastEventId } : query, scope);
    const follow = await this.gateway.followQuery(wanted);
    if (this.shutdown.started.aborted) throw new ProblemError(503, 'The service is shutting down');
    await sendEvents(reply, this.shutdown, (signal) => sseFrames(follow(signal)));
  }
}

async function* sseFrames(frames: AsyncIterable<GatewayFrame>): AsyncGenerator<SseFrame> {
  for await (const { cursor, text } of frames) yield { id: cursor, data: text };
}

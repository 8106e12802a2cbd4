import { Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Scope } from '#libs/access';
import { ApiProblem, ProblemError, QueryNumber, sendEvents, type SseFrame } from '#libs/http-server';
import { Shutdown } from '#libs/service';
import { TaskLogPages, type TaskScope } from '#libs/tasks';
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

const LARGEST_PAGE = 200;

/** Query parameters that select a page of a Task's log. */
class TaskLogQuery {
  @QueryNumber(0, undefined, {
    default: 0,
    description: 'Lists events after this number; `next` of the previous page.',
  })
  after = 0;

  @QueryNumber(1, LARGEST_PAGE, {
    default: 100,
    description: 'Maximum number of events; a page also ends after one megabyte.',
  })
  limit = 100;
}

/** Event of a Task's log, as the API returns it. */
class LoggedEventView {
  @ApiProperty({
    type: 'integer',
    description: 'Sequence number in the log, from 1; also the id of the event in a stream.',
    example: 2,
  })
  sequence!: number;

  @ApiProperty({ format: 'date-time', description: 'Time of the event.' })
  recordedAt!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'StreamResponse of A2A, as SubscribeToTask sends it.',
    example: {
      statusUpdate: {
        taskId: '0190c1de-7a53-7f0c-9a57-2f8f0f6f3b52',
        contextId: '0190c1de-7a53-7f0c-9a57-2f8f0f6f3b53',
        status: { state: 'TASK_STATE_WORKING', timestamp: '2026-01-31T09:30:00.000Z' },
      },
    },
  })
  event!: object;
}

class TaskLogView {
  @ApiProperty({ type: [LoggedEventView] })
  events!: LoggedEventView[];

  @ApiPropertyOptional({
    type: 'integer',
    description: 'Value of `after` for the next page; absent on the last page.',
    example: 100,
  })
  next?: number;
}

/** Serves the log of one Task page by page, with every event as it was written. */
@ApiTags('events')
@Controller('api/tasks')
export class TaskLogController {
  constructor(private readonly pages: TaskLogPages) {}

  @Get(':id/events')
  @ApiOperation({ summary: 'Lists the events of a Task, from its first or after one, page by page.' })
  @ApiOkResponse({ type: TaskLogView })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiProblem(404, 'task not found')
  async listTaskEvents(
    @Param('id') id: string,
    @Query() { after, limit }: TaskLogQuery,
    @Scope() scope: TaskScope,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const page = await this.pages.readPage(scope, id, after, limit);
    if (!page) throw new ProblemError(404, 'task not found');
    void reply.type('application/json; charset=utf-8');
    // The JSON stays as it was written: parsing would round large numbers.
    const events = page.events.map(
      ({ sequence, recordedAt, json }) =>
        `{"sequence":${sequence},"recordedAt":"${recordedAt.toISOString()}","event":${json}}`,
    );
    return `{"events":[${events.join(',')}]${page.next === undefined ? '' : `,"next":${page.next}`}}`;
  }
}

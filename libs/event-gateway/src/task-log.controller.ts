import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Scope } from '#libs/access';
import { ApiProblem, ProblemError } from '#libs/http';
import { TaskLogPages, type TaskScope } from '#libs/tasks';
import type { FastifyReply } from 'fastify';
import { TaskLogQuery, TaskLogView } from './task-log.dto.js';

/** Serves the log of a Task as it was written. */
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

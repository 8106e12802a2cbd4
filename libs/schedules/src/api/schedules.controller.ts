import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Caller } from '#libs/access';
import { RunStartCheck } from '#libs/durable';
import { ApiProblem, cutPage, LOCATION_HEADER, malformedRequest, namedPage, ProblemError } from '#libs/http-server';
import { readTimestamp } from '#libs/protocol';
import { RunStarts } from '../firing/run-starts.js';
import { ScheduleFirings } from '../storage/schedule-firings.js';
import { type Schedule, SCHEDULE_NAME, Schedules } from '../storage/schedules.js';
import { FiringTimes } from '../timing/schedule-timing.js';
import { REPLACEMENT_EXAMPLES, SCHEDULE_EXAMPLES, TIMES_EXAMPLES } from './body-examples.js';
import {
  BackfillBody,
  ScheduleBody,
  SchedulePauseBody,
  ScheduleReplacementBody,
  ScheduleTimingBody,
} from './schedule-body.js';
import {
  BackfillView,
  FiringQuery,
  firingView,
  listedSchedule,
  NextTimesView,
  nextTimesView,
  RequestedRunView,
  ScheduleFiringListView,
  ScheduleListView,
  ScheduleQuery,
  ScheduleView,
  scheduleView,
} from './schedule-views.js';

/** Maximum number of runs of one backfill. */
const MOST_BACKFILLED = 1_000;

/** Manages schedules: workflows that are run at given times. They belong to the tenant. */
@ApiTags('schedules')
@Controller('api/schedules')
export class SchedulesController {
  constructor(
    private readonly schedules: Schedules,
    private readonly firings: ScheduleFirings,
    private readonly starts: RunStarts,
    private readonly check: RunStartCheck,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Creates a schedule, which runs a workflow at given times.' })
  @ApiBody({ type: ScheduleBody, examples: SCHEDULE_EXAMPLES })
  @ApiCreatedResponse({ type: ScheduleView, ...LOCATION_HEADER })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(409, 'A schedule of this name exists already.')
  @ApiProblem(422, 'The workflow does not exist or does not take the inputs; or the tenant has too many schedules.')
  async createSchedule(
    @Body() body: ScheduleBody,
    @Caller() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ScheduleView> {
    const { name, definition } = body;
    await this.check.requireRunnable(definition, caller);
    const created = await this.schedules.createSchedule({ tenant: caller.tenant, name }, caller.owner, definition);
    if (!created) throw new ProblemError(409, `the schedule "${name}" exists already`);
    void reply.header('location', `/api/schedules/${name}`);
    return scheduleView(created);
  }

  @Get()
  @ApiOperation({ summary: 'Lists schedules by name.' })
  @ApiOkResponse({ type: ScheduleListView })
  @ApiProblem(400, 'A parameter is malformed.')
  async listSchedules(@Query() query: ScheduleQuery, @Caller() { tenant }: Caller): Promise<ScheduleListView> {
    const { page, nextPageToken } = cutPage(
      await this.schedules.listSchedules(tenant, namedPage(query)),
      query.pageSize,
    );
    return { schedules: page.map(listedSchedule), nextPageToken };
  }

  @Post('times')
  @HttpCode(200)
  @ApiOperation({ summary: 'Returns the next ten times of a schedule that is not saved yet.' })
  @ApiBody({ type: ScheduleTimingBody, examples: TIMES_EXAMPLES })
  @ApiOkResponse({ type: NextTimesView })
  @ApiProblem(400, 'The body is malformed.')
  listTimes(@Body() { timing }: ScheduleTimingBody): NextTimesView {
    return { nextTimes: nextTimesView(new FiringTimes(timing), new Date()) };
  }

  @Get(':name')
  @ApiOperation({ summary: 'Returns one schedule.' })
  @ApiOkResponse({ type: ScheduleView })
  @ApiProblem(404, 'schedule not found')
  async getSchedule(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<ScheduleView> {
    return scheduleView(await this.findExisting(tenant, name));
  }

  @Put(':name')
  @ApiOperation({ summary: 'Replaces a schedule. The caller becomes the owner of the runs to come.' })
  @ApiBody({ type: ScheduleReplacementBody, examples: REPLACEMENT_EXAMPLES })
  @ApiOkResponse({ type: ScheduleView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'schedule not found')
  @ApiProblem(422, 'The workflow does not exist or does not take the inputs.')
  async replaceSchedule(
    @Param('name') name: string,
    @Body() { definition }: ScheduleReplacementBody,
    @Caller() caller: Caller,
  ): Promise<ScheduleView> {
    await this.findExisting(caller.tenant, name);
    await this.check.requireRunnable(definition, caller);
    const key = { tenant: caller.tenant, name };
    return scheduleView(requireSchedule(await this.schedules.replaceSchedule(key, caller.owner, definition)));
  }

  @Delete(':name')
  @HttpCode(204)
  @ApiOperation({ summary: 'Deletes a schedule with its history. Its runs stay, and those under way continue.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'schedule not found')
  async deleteSchedule(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<void> {
    await this.findExisting(tenant, name);
    if (!(await this.schedules.delete({ tenant, name }))) throw unknownSchedule();
  }

  @Post(':name/pause')
  @HttpCode(200)
  @ApiOperation({ summary: 'Pauses a schedule. Times that come meanwhile are not taken later.' })
  @ApiBody({ type: SchedulePauseBody, required: false })
  @ApiOkResponse({ type: ScheduleView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'schedule not found')
  async pauseSchedule(
    @Param('name') name: string,
    @Body() { note }: SchedulePauseBody,
    @Caller() { tenant }: Caller,
  ): Promise<ScheduleView> {
    await this.findExisting(tenant, name);
    return scheduleView(requireSchedule(await this.schedules.pauseSchedule({ tenant, name }, note)));
  }

  @Post(':name/resume')
  @HttpCode(200)
  @ApiOperation({ summary: 'Resumes a paused schedule from its next time on.' })
  @ApiOkResponse({ type: ScheduleView })
  @ApiProblem(404, 'schedule not found')
  async resumeSchedule(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<ScheduleView> {
    await this.findExisting(tenant, name);
    return scheduleView(requireSchedule(await this.schedules.resumeSchedule({ tenant, name })));
  }

  @Post(':name/run')
  @HttpCode(202)
  @ApiOperation({ summary: 'Starts a run of a schedule now, even if it is paused or an earlier run has not ended.' })
  @ApiAcceptedResponse({ type: RequestedRunView, ...LOCATION_HEADER })
  @ApiProblem(404, 'schedule not found')
  @ApiProblem(422, 'The run cannot start, for example because its workflow was deleted; or too many runs are open.')
  async runSchedule(
    @Param('name') name: string,
    @Caller() { tenant }: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RequestedRunView> {
    const { scheduleId } = await this.findExisting(tenant, name);
    const added = await this.firings.addRequested(scheduleId);
    if (!added || added.run_id === null) throw unknownSchedule();
    // The job for it starts the run later if this attempt fails for a while.
    const reason = await this.starts.startFiring(added.firing_id, { last: false }).catch(() => undefined);
    if (reason !== undefined) throw new ProblemError(422, reason);
    void reply.header('location', `/api/runs/${added.run_id}`);
    return { runId: added.run_id };
  }

  @Post(':name/backfill')
  @HttpCode(202)
  @ApiOperation({ summary: 'Starts a run for each time of a period of the past.' })
  @ApiAcceptedResponse({ type: BackfillView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'schedule not found')
  @ApiProblem(422, `The period has more than ${MOST_BACKFILLED} times, or too many runs are queued.`)
  async backfillSchedule(
    @Param('name') name: string,
    @Body() body: BackfillBody,
    @Caller() { tenant }: Caller,
  ): Promise<BackfillView> {
    const { from, to } = readPeriod(body);
    const schedule = await this.findExisting(tenant, name);
    const times = timesIn(schedule, from, to);
    const isQueued = body.overlap !== 'allow';
    const count = await this.firings.addBackfill(schedule.scheduleId, times, isQueued ? 'queued' : 'starting');
    return { count };
  }

  @Get(':name/firings')
  @ApiOperation({ summary: 'Lists the history of a schedule, newest first: each time, and what came of it.' })
  @ApiOkResponse({ type: ScheduleFiringListView })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiProblem(404, 'schedule not found')
  async listFirings(
    @Param('name') name: string,
    @Query() { pageSize, pageToken = '' }: FiringQuery,
    @Caller() { tenant }: Caller,
  ): Promise<ScheduleFiringListView> {
    const { scheduleId } = await this.findExisting(tenant, name);
    const before = pageToken === '' ? undefined : pageToken;
    const found = await this.firings.listFirings(scheduleId, pageSize + 1, before);
    const { page, nextPageToken } = cutPage(found, pageSize, ({ id }) => id);
    return { firings: page.map(firingView), nextPageToken };
  }

  /** Returns the schedule of a name. @throws ProblemError 404 */
  private async findExisting(tenant: string, name: string): Promise<Schedule> {
    return requireSchedule(SCHEDULE_NAME.test(name) ? await this.schedules.get({ tenant, name }) : undefined);
  }
}

/** Reads the period of a backfill. @throws ProblemError 400 */
function readPeriod({ from, to }: BackfillBody): { from: Date; to: Date } {
  const [begin, end] = [readTimestamp(from), readTimestamp(to)];
  const detail = 'must be a time such as 2026-01-31T09:30:00Z';
  if (!begin) throw malformedRequest({ path: 'from', detail });
  if (!end) throw malformedRequest({ path: 'to', detail });
  if (end < begin) throw malformedRequest({ path: 'to', detail: 'must not be earlier than from' });
  if (end > new Date()) throw malformedRequest({ path: 'to', detail: 'must not be in the future' });
  return { from: begin, to: end };
}

/** Returns the times of a schedule in a period, the ends included. @throws ProblemError 422 if there are too many */
function timesIn({ timing }: Schedule, from: Date, to: Date): Date[] {
  const times = new FiringTimes(timing).listBetween(new Date(from.getTime() - 1), to, MOST_BACKFILLED + 1);
  if (times.length <= MOST_BACKFILLED) return times;
  const detail = `the period has more than ${MOST_BACKFILLED} times of the schedule: choose a shorter one`;
  throw new ProblemError(422, detail, [{ path: 'to', detail }]);
}

function requireSchedule(schedule: Schedule | undefined): Schedule {
  if (!schedule) throw unknownSchedule();
  return schedule;
}

function unknownSchedule(): ProblemError {
  return new ProblemError(404, 'schedule not found');
}

import { Body, Controller, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { type ApiCall, Call, setAuditDetail } from '#libs/access';
import { IdempotencyKey } from '#libs/durable';
import { ApiLargeAnswer, ApiProblem } from '#libs/http-server';
import { BulkRuns, BulkSlots, shareDeparture, STILL_CANCELING } from './run-bulk.js';
import { BulkBody, BulkReport, BulkRerunBody } from './run-bulk.dto.js';
import { CSV_HEAD, csvLine } from './run-csv.js';
import { RunList, type RunListPage } from './run-list.js';
import { BulkFilterQuery, RunExportQuery } from './run-query.js';
import { RunUsages } from './usage.controller.js';

/** Maximum number of runs of one export. */
const MOST_EXPORTED = 10_000;
/** Number of runs that an export reads at a time. */
const EXPORTED_TOGETHER = 100;

/** Cancels, reruns and exports several runs at a time. */
@ApiTags('runs')
@Controller('api')
export class RunBulkController {
  constructor(
    private readonly bulk: BulkRuns,
    private readonly runList: RunList,
    private readonly slots: BulkSlots,
    private readonly usages: RunUsages,
  ) {}

  @Post('runs/cancel')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancels several runs and reports the outcome of each.',
    description:
      'Acts on the runs that the body names, or on those that the query parameters select. Without `status`, these ' +
      'are runs that have not ended.',
  })
  @ApiBody({ type: BulkBody, required: false })
  @ApiOkResponse({ type: BulkReport })
  @ApiProblem(400, 'A parameter is malformed, or nothing selects runs.')
  @ApiProblem(429, 'Too many actions of the caller are under way.')
  @ApiLargeAnswer()
  async cancelRuns(
    @Query() filter: BulkFilterQuery,
    @Body() body: BulkBody,
    @Call() call: ApiCall,
    @Req() request: FastifyRequest,
  ): Promise<BulkReport> {
    return auditReport(request, await this.bulk.cancelRuns(body ?? {}, filter, call));
  }

  @Post('runs/rerun')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Reruns several ended runs and reports the outcome of each.',
    description:
      'Acts on the runs that the body names, or on those that the query parameters select. Without `status`, these ' +
      'are runs that have ended.',
  })
  @ApiBody({ type: BulkRerunBody, required: false })
  @ApiOkResponse({ type: BulkReport })
  @ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: 'A repeated request with the same key starts no second rerun of a run.',
  })
  @ApiProblem(400, 'A parameter is malformed, or nothing selects runs.')
  @ApiProblem(429, 'Too many actions of the caller are under way.')
  @ApiLargeAnswer()
  async rerunRuns(
    @Query() filter: BulkFilterQuery,
    @Body() body: BulkRerunBody,
    @IdempotencyKey() key: string | undefined,
    @Call() call: ApiCall,
    @Req() request: FastifyRequest,
  ): Promise<BulkReport> {
    return auditReport(request, await this.bulk.rerunRuns(body ?? {}, filter, call, key));
  }

  @Get('runs.csv')
  @ApiOperation({
    summary: `Exports runs as CSV, most recently updated first, at most ${MOST_EXPORTED}.`,
    description:
      'For older runs, repeat the request with the last `updatedAt` as `until`, and that `runId` as `after`.',
  })
  @ApiProduces('text/csv')
  @ApiOkResponse({
    description: 'Runs, one a line.',
    content: { 'text/csv': { schema: { type: 'string', example: CSV_HEAD } } },
  })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiProblem(429, 'Too many exports of the caller are under way.')
  async exportRuns(@Query() query: RunExportQuery, @Call() call: ApiCall, @Res() reply: FastifyReply): Promise<void> {
    const { filter, before } = query.selection;
    const shared = shareDeparture(call);
    const slot = this.slots.takeFor(call);
    // The end of the response frees the slot: a client may leave before any line is read.
    const freeSlot = (): void => slot[Symbol.dispose]();
    if (!shared.whenAnswered?.(freeSlot)) freeSlot();
    const pages = this.runList.listPages(filter, EXPORTED_TOGETHER, shared, before);
    // The first page is read before the head is sent, so that a refusal has a status.
    const lines = Readable.from(
      csvLines(await pages.next(), pages, (runs) => this.usages.addUsage(runs, call.scope)),
      { objectMode: false },
    );
    void reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="runs.csv"')
      .send(lines);
  }
}

/** Adds the outcomes of an action, and the ids of the runs that it changed, to the audit log. Returns the report. */
function auditReport({ raw }: FastifyRequest, report: BulkReport): BulkReport {
  const { runs, dryRun } = report;
  const byOutcome = Map.groupBy(runs, ({ outcome }) => outcome);
  const counts = Object.fromEntries([...byOutcome].map(([outcome, its]) => [outcome, its.length]));
  // A report has at most MOST_SELECTED runs.
  const changed = runs.filter(({ outcome, reason }) => outcome === 'done' || reason === STILL_CANCELING);
  setAuditDetail(raw, { dryRun, counts, ids: changed.map(({ runId }) => runId) });
  return report;
}

/**
 * Yields the CSV lines of an export, page by page.
 * @param first the first page, which was read before the response began
 * @param addUsage adds the tokens and the cost to the runs of a page
 */
async function* csvLines(
  first: IteratorResult<RunListPage, void>,
  pages: AsyncGenerator<RunListPage, void>,
  addUsage: (runs: RunListPage['runs']) => Promise<RunListPage['runs']>,
): AsyncGenerator<string> {
  yield CSV_HEAD;
  let left = MOST_EXPORTED;
  for (let page = first; !page.done && left > 0; page = await pages.next()) {
    const runs = await addUsage(page.value.runs.slice(0, left));
    const lines = runs.map(csvLine);
    left -= lines.length;
    if (lines.length > 0) yield lines.join('');
  }
}

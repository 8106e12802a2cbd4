import { Controller, Get, Injectable, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Scope } from '#libs/access';
import { ApiProblem } from '#libs/http-server';
import { textStart } from '#libs/protocol';
import { type TaskScope, TaskUsage } from '#libs/tasks';
import { runStatus, workflowOf } from '#libs/workflow-engine';
import {
  RunActivityReader,
  type RunGroup,
  type TimeRange,
  type WaitingWorkRow,
  type WaitKind,
} from '../storage/run-activity.js';
import { groupFailures } from './failure-causes.js';
import { Overview, OverviewQuery, type RunCounts } from './overview.dto.js';
import { MOST_FAILED, RunCauses } from './run-causes.js';

/** Maximum number of causes, and of workflows, of an overview. */
const MOST_CAUSES = 50;
const MOST_WORKFLOWS = 100;
/** Maximum number of characters of a question in the overview. */
const LONGEST_QUESTION = 200;

type WorkflowLine = Overview['workflows'][number];
type WaitsLine = Overview['waiting'][WaitKind];

/**
 * Reads the overview of a caller's runs. Its statements run one after another, so that a call uses one database session
 * at a time.
 */
@Injectable()
export class RunOverview {
  constructor(
    private readonly activity: RunActivityReader,
    private readonly causes: RunCauses,
    private readonly usage: TaskUsage,
  ) {}

  async readOverview(range: TimeRange, scope: TaskScope): Promise<Overview> {
    const recent = await this.activity.countRuns(scope, range, MOST_FAILED + 1);
    const before = await this.activity.countRuns(scope, rangeBefore(range), 0);
    const failures = groupFailures(await this.causes.readFailures(recent.failed, scope));
    const workflows = listWorkflows(recent.groups);
    const { usageDays, total, byWorkflow } = await this.readUsage(range, scope);
    return {
      since: range.since.toISOString(),
      until: range.until.toISOString(),
      runs: countByStatus(recent.groups),
      before: countByStatus(before.groups),
      failures: failures.slice(0, MOST_CAUSES).map(viewCause),
      workflows: workflows.slice(0, MOST_WORKFLOWS).map((line) => withUsage(line, byWorkflow)),
      waiting: viewWaiting(await this.activity.readWaiting(scope)),
      usage: total,
      usageDays,
      more: recent.more,
      moreBefore: before.more,
      moreFailures: recent.more || recent.failed.length > MOST_FAILED || failures.length > MOST_CAUSES,
      moreWorkflows: workflows.length > MOST_WORKFLOWS,
    };
  }

  private async readUsage({ since, until }: TimeRange, { tenant, owner }: TaskScope) {
    const usageDays = { since: toDay(since), until: toDay(new Date(until.getTime() - 1)) };
    const query = { tenant, owner, isWholeTenant: false, ...usageDays, groupBy: 'workflow', limit: 1_000 } as const;
    const { total, groups } = await this.usage.sumDays(query);
    const byWorkflow = new Map(groups.map(({ key, ...sums }) => [key, sums]));
    return { usageDays, total, byWorkflow };
  }
}

function rangeBefore({ since, until }: TimeRange): TimeRange {
  return { since: new Date(since.getTime() - (until.getTime() - since.getTime())), until: since };
}

function toDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}

function countByStatus(groups: readonly RunGroup[]): RunCounts {
  const counts: RunCounts = { running: 0, 'input-required': 0, completed: 0, failed: 0, canceled: 0 };
  for (const { state, runs } of groups) counts[runStatus(state)] += runs;
  return counts;
}

/**
 * Returns the overview's entry for each workflow: its runs by status, and the duration of completed runs. The workflows
 * with the most runs come first.
 */
function listWorkflows(groups: readonly RunGroup[]): WorkflowLine[] {
  const byAgent = Map.groupBy(groups, ({ agent }) => agent);
  const lines = Array.from(byAgent, ([agent, its]) => {
    const seconds = its.find(({ state }) => state === 'TASK_STATE_COMPLETED')?.seconds;
    const latency = seconds && { p50: roundSeconds(seconds[0]), p95: roundSeconds(seconds[1]) };
    return { workflow: workflowOf({ agent }), runs: countByStatus(its), ...latency };
  });
  return lines.sort((a, b) => sumCounts(b.runs) - sumCounts(a.runs) || (a.workflow < b.workflow ? -1 : 1));
}

function withUsage(line: WorkflowLine, byWorkflow: ReadonlyMap<string, Overview['usage']>): WorkflowLine {
  const usage = byWorkflow.get(line.workflow);
  return { ...line, ...(usage && { usage }) };
}

function roundSeconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

function sumCounts(counts: RunCounts): number {
  return Object.values(counts).reduce((sum: number, count: number) => sum + count, 0);
}

function viewCause({ firstSeen, lastSeen, ...cause }: ReturnType<typeof groupFailures>[number]) {
  return { ...cause, firstSeen: firstSeen.toISOString(), lastSeen: lastSeen.toISOString() };
}

function viewWaiting(rows: readonly WaitingWorkRow[]): Overview['waiting'] {
  const viewKind = (kind: WaitKind): WaitsLine => viewWaits(rows.find((row) => row.kind === kind));
  return { questions: viewKind('questions'), parked: viewKind('parked'), queued: viewKind('queued') };
}

function viewWaits(row: WaitingWorkRow | undefined): WaitsLine {
  if (!row) return { total: 0, underHour: 0, underDay: 0, longer: 0, more: false };
  const { total, under_hour: underHour, under_day: underDay, longer, more } = row;
  const { run_id: runId, agent, since, until, question } = row;
  const text = question?.['text'];
  const oldest = runId !== null &&
    agent !== null &&
    since !== null && {
      runId,
      workflow: workflowOf({ agent }),
      since: since.toISOString(),
      ...(until !== null && { until: until.toISOString() }),
      ...(typeof text === 'string' && { question: textStart(text, LONGEST_QUESTION) }),
    };
  return { total, underHour, underDay, longer, more, ...(oldest && { oldest }) };
}

/** Controller of the overview: failures, waiting runs, durations and costs. */
@ApiTags('runs')
@Controller('api/overview')
export class OverviewController {
  constructor(private readonly overview: RunOverview) {}

  @Get()
  @ApiOperation({
    summary: "Reports the caller's failures by cause, waiting work, latency and cost.",
    description:
      'Reads at most 100,000 runs of the range and as many of the range before, and 20,000 of each workflow, newest first.',
  })
  @ApiOkResponse({ type: Overview })
  @ApiProblem(400, 'A parameter is malformed.')
  getOverview(@Query() query: OverviewQuery, @Scope() scope: TaskScope): Promise<Overview> {
    return this.overview.readOverview(query.rangeAt(new Date()), scope);
  }
}

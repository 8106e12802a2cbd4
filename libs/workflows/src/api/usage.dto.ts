import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { malformedRequest, type ProblemEntry, QueryText, QueryWord } from '#libs/http-server';
import type { BudgetState, UsageGrouping, UsageSums } from '#libs/tasks';

const COUNT = { type: 'integer' } as const;
const TOKENS = { type: 'integer', example: 18_200 } as const;

/** Sums over calls of models: their number, tokens and cost. */
export class UsageView implements UsageSums {
  @ApiProperty({ ...COUNT, description: 'Number of calls of models.', example: 12 }) calls!: number;
  @ApiProperty({ ...COUNT, description: 'Number of calls whose tokens are unknown; no sum includes them.', example: 0 })
  unreportedCalls!: number;
  @ApiProperty({ ...COUNT, description: 'Number of calls whose cost is unknown; `cost` omits them.', example: 0 })
  unpricedCalls!: number;
  @ApiPropertyOptional({ ...TOKENS, description: 'Number of input tokens; absent if unknown.' }) inputTokens?: number;
  @ApiPropertyOptional({ ...TOKENS, description: 'Number of output tokens; absent if unknown.' })
  outputTokens?: number;
  @ApiPropertyOptional({
    ...TOKENS,
    description: "Input tokens from the providers' caches; absent if none is reported.",
  })
  cachedInputTokens?: number;
  @ApiPropertyOptional({
    ...TOKENS,
    description: "Input tokens that are written to the providers' caches; absent if none is reported.",
  })
  cacheWriteInputTokens?: number;
  @ApiPropertyOptional({ ...TOKENS, description: 'Output tokens of reasoning; absent if none is reported.' })
  reasoningTokens?: number;
  @ApiPropertyOptional({
    description: 'Cost in US dollars, an exact decimal number; absent if unknown.',
    example: '0.0421',
  })
  cost?: string;
}

class ModelUsageView extends UsageView {
  @ApiProperty({ example: 'large' }) model!: string;
}

/** Sums of the model calls of a run, its child runs included. */
export class RunUsage extends UsageView {
  @ApiProperty({ description: "Calls of the run's own nodes alone, without child runs of other workflows." })
  own!: UsageView;
  @ApiProperty({ type: [ModelUsageView], description: 'Sums by model, child runs included, the most tokens first.' })
  models!: ModelUsageView[];
}

/** Limits of a run on what it spends, and what it has spent. */
export class RunBudgetView implements BudgetState {
  @ApiPropertyOptional({ description: 'Limit in US dollars, an exact decimal number; absent: none.', example: '1' })
  usd?: string;
  @ApiPropertyOptional({ ...TOKENS, description: 'Limit of tokens; absent: none.' }) tokens?: number;
  @ApiProperty({ enum: ['stop', 'ask', 'warn'], example: 'stop' }) onExceeded!: BudgetState['onExceeded'];
  @ApiProperty({
    description: 'Spent US dollars, with the estimates of calls that have no known cost.',
    example: '0.42',
  })
  spentUsd!: string;
  @ApiProperty({ ...TOKENS, description: 'Spent tokens, with the estimates of calls that have no known tokens.' })
  spentTokens!: number;
}

class UsageGroupView extends UsageView {
  @ApiProperty({ description: 'Workflow, caller, model or day of the calls.', example: 'greeting' }) key!: string;
}

export class UsageReport {
  @ApiProperty({ description: 'First day, in UTC.', format: 'date', example: '2026-01-02' }) since!: string;
  @ApiProperty({ description: 'Last day, in UTC.', format: 'date', example: '2026-01-31' }) until!: string;
  @ApiProperty() total!: UsageView;
  @ApiProperty({ type: [UsageGroupView], description: 'Groups, the most tokens first; days newest first.' })
  groups!: UsageGroupView[];
  @ApiProperty({ description: 'True if there are more groups; `total` includes them.', example: false })
  more!: boolean;
}

const USAGE_GROUPINGS: UsageGrouping[] = ['workflow', 'caller', 'model', 'day'];

const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
/** Maximum number of days of one report. */
const MOST_DAYS = 400;

function isDay(text: string): boolean {
  return DAY.test(text) && toDay(new Date(`${text}T00:00:00Z`)) === text;
}

/** Returns the day of a time in UTC, such as `2026-01-31`; `''` for an invalid time. */
function toDay(time: Date): string {
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().slice(0, 10);
}

/** Query parameters of a report of usage. */
export class UsageRequest {
  @QueryWord(USAGE_GROUPINGS, { default: 'day' })
  groupBy: UsageGrouping = 'day';

  @QueryWord(['own', 'all'], {
    default: 'own',
    description: 'Callers whose calls count: the caller itself, or all of its tenant, which needs the scope `admin`.',
  })
  callers: 'own' | 'all' = 'own';

  @QueryText(isDay, 'must be a day such as 2026-01-31', {
    format: 'date',
    description: 'First day, in UTC; default: the 30th day up to `until`.',
    example: '2026-01-02',
  })
  since?: string;

  @QueryText(isDay, 'must be a day such as 2026-01-31', {
    format: 'date',
    description: 'Last day, in UTC; default: today.',
    example: '2026-01-31',
  })
  until?: string;

  /** Days of the report. @throws ProblemError 400 if there are none, or more than MOST_DAYS days */
  daysAt(now: Date): { since: string; until: string } {
    const until = this.until ?? toDay(now);
    const last = Date.parse(until);
    const since = this.since ?? toDay(new Date(last - (DEFAULT_DAYS - 1) * DAY_MS));
    const days = (last - Date.parse(since)) / DAY_MS + 1;
    const refuseSince = (detail: string): Error => malformedRequest({ path: 'since', detail } satisfies ProblemEntry);
    if (days < 1) throw refuseSince('must not be after until');
    if (days > MOST_DAYS) throw refuseSince(`must be at most ${MOST_DAYS - 1} days before until`);
    return { since, until };
  }
}

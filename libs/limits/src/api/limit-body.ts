import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsObject, Matches, Max, Min, ValidateBy, ValidateNested } from 'class-validator';
import { DURATION, parseDuration } from '#libs/expressions';
import { ApiClosed, IfGiven, malformedRequest, withMembers } from '#libs/http-server';
import { isJsonObject, type JsonValue } from '#libs/protocol';
import { LIMIT_KEYS, LIMIT_NAME, LIMIT_TARGET, type LimitDefinition, type LimitKey } from '../limit.js';

const NAME_RULE = 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen';
const MOST_CONCURRENT = 10_000;
const MOST_COUNT = 1_000_000;
const MOST_BURST = 1_000;
const SHORTEST_PERIOD_MS = 1_000;
const LONGEST_PERIOD_MS = 86_400_000;
/** Maximum number of starts per second, since each start changes a row of the limit. */
const MOST_PER_SECOND = 200;
const PERIOD_RULE = 'must be a duration from 1s to 1d, such as 30s or 10m';

function isPeriod(value: unknown): boolean {
  const period = parseDuration(value) ?? 0;
  return period >= SHORTEST_PERIOD_MS && period <= LONGEST_PERIOD_MS;
}

const isCountRule = { message: `must be an integer from 1 to ${MOST_COUNT}` };
const isBurstRule = { message: `must be an integer from 1 to ${MOST_BURST}` };
const isConcurrencyRule = { message: `must be an integer from 0 to ${MOST_CONCURRENT}` };

/** Rate of a limit, as callers of the API send it. */
@ApiClosed()
export class LimitRateBody {
  static readonly unknown: string = 'is not a field of a rate';

  @ApiProperty({ type: 'integer', minimum: 1, maximum: MOST_COUNT, example: 30 })
  @Max(MOST_COUNT, isCountRule)
  @Min(1, isCountRule)
  @IsInt(isCountRule)
  count!: number;

  @ApiProperty({ pattern: DURATION.source, example: '1m', description: 'Duration from 1s to 1d.' })
  @ValidateBy({ name: 'period', validator: { validate: isPeriod } }, { message: PERIOD_RULE })
  period!: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MOST_BURST,
    default: 1,
    description: 'Number of starts that may follow at once after a pause. With 1, starts are evenly spaced.',
  })
  @IfGiven()
  @Max(MOST_BURST, isBurstRule)
  @Min(1, isBurstRule)
  @IsInt(isBurstRule)
  burst?: number;
}

/** Limit, as callers of the API send it. */
@ApiClosed()
export class LimitBody {
  static readonly unknown: string = 'is not a field of a limit';

  @ApiProperty({ pattern: LIMIT_NAME.source, example: 'writer' })
  @Matches(LIMIT_NAME, { message: NAME_RULE })
  name!: string;

  @ApiProperty({
    pattern: LIMIT_TARGET.source,
    example: 'workflows/*',
    description:
      'What the limit counts: runs of a workflow (`workflows/NAME`) or of all (`workflows/*`), turns at a registered ' +
      'agent (`agents/NAME`) or at all (`agents/*`), or both for each caller (`caller`).',
  })
  @Matches(LIMIT_TARGET, { message: 'must be agents/NAME, agents/*, workflows/NAME, workflows/* or caller' })
  target!: string;

  @ApiPropertyOptional({
    enum: LIMIT_KEYS,
    description: 'Each target, caller or tenant has the limit of its own. Absent: all work that matches shares it.',
  })
  @IfGiven()
  @IsIn(LIMIT_KEYS, { message: `must be one of ${LIMIT_KEYS.join(', ')}` })
  per?: LimitKey;

  @ApiPropertyOptional({
    default: false,
    description: 'Counts the work of all tenants. Only callers of `OPERATOR_TENANT` may set it.',
  })
  @IfGiven()
  @IsBoolean({ message: 'must be true or false' })
  allTenants?: boolean;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MOST_CONCURRENT,
    example: 5,
    description: 'Maximum number that is under way at the same time, over all replicas; 0: none begins.',
  })
  @IfGiven()
  @Max(MOST_CONCURRENT, isConcurrencyRule)
  @Min(0, isConcurrencyRule)
  @IsInt(isConcurrencyRule)
  concurrency?: number;

  @ApiPropertyOptional({ type: LimitRateBody, description: 'Maximum number of starts in a period.' })
  @IfGiven()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  rate?: LimitRateBody;

  static from(sent: object): LimitBody {
    const { rate } = sent as { rate?: JsonValue };
    return withMembers(LimitBody, { ...sent, ...(isJsonObject(rate) && { rate: withMembers(LimitRateBody, rate) }) });
  }

  /** Definition to store. @throws ProblemError 400 if its members contradict each other */
  get definition(): LimitDefinition {
    const { target, per, allTenants, concurrency, rate } = this;
    if (concurrency === undefined && rate === undefined)
      throw malformedRequest({ path: 'concurrency', detail: 'is required, or rate' });
    if (target === 'caller' && per !== undefined)
      throw malformedRequest({ path: 'per', detail: 'is not possible with the target caller' });
    if (per === 'tenant' && allTenants !== true)
      throw malformedRequest({ path: 'per', detail: 'may be tenant only with allTenants' });
    if (rate && rate.count / ((parseDuration(rate.period) ?? 1) / 1_000) > MOST_PER_SECOND)
      throw malformedRequest({ path: 'rate.count', detail: `must be at most ${MOST_PER_SECOND} per second` });
    return {
      target,
      ...(per !== undefined && { per }),
      ...(allTenants === true && { allTenants }),
      ...(concurrency !== undefined && { concurrency }),
      ...(rate && { rate: { count: rate.count, period: rate.period, burst: rate.burst ?? 1 } }),
    };
  }
}

/** Body that replaces a limit. The name comes from the path; a name in the body is ignored. */
export class LimitReplacementBody extends LimitBody {
  static override from(sent: object): LimitBody {
    return super.from({ ...sent, name: 'named-by-its-path' });
  }
}

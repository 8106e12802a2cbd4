import { ApiClosed, malformedRequest, withMembers } from '#libs/http';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, Matches, ValidateIf } from 'class-validator';

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION = /^([1-9]\d{0,5})([smh])$/;
const DEFAULT = '15m';
const MOST_MS = 24 * 3_600_000;
const DETAIL = 'must be a duration such as 30s, 15m or 2h, at most 24h';

/** Validity of a file's address. */
@ApiClosed()
export class FileUrlBody {
  static readonly optional = true;
  static readonly unknown: string = 'is not a field of this request';

  @ApiPropertyOptional({ pattern: DURATION.source, default: DEFAULT, description: 'At most 24 hours.', example: '2h' })
  @ValidateIf((_body, value) => value !== undefined)
  @Matches(DURATION, { message: DETAIL })
  @IsString({ message: DETAIL })
  expiresIn?: string;

  static from(sent: object): FileUrlBody {
    return withMembers(FileUrlBody, sent);
  }

  /** Duration in milliseconds. @throws ProblemError 400 above 24 hours */
  get durationMs(): number {
    const [, count, unit] = DURATION.exec(this.expiresIn ?? DEFAULT) ?? [];
    const ms = Number(count) * UNITS[unit!]!;
    if (ms > MOST_MS) throw malformedRequest({ path: 'expiresIn', detail: DETAIL });
    return ms;
  }
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ApiClosed, EachEntry, type ProblemEntry } from '#libs/http';
import { type A2AError, invalidParams } from '#libs/protocol';
import { CALLER_NAME } from '#libs/service';
import { ArrayMinSize, IsArray, IsInt, Matches, Max, Min } from 'class-validator';
import { isPermission, type Permission, PERMISSIONS } from './caller.js';

const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;
const OVERLAP = { message: `must be a whole number from 0 to ${MAX_OVERLAP_SECONDS}` };
const UNKNOWN = 'is not known';

/** Key to create. */
@ApiClosed()
export class MakeKeyBody {
  static readonly unknown = UNKNOWN;
  static readonly exceptionFactory = keyBodyError;

  @ApiProperty({
    pattern: CALLER_NAME.source,
    description: 'The caller: what it makes is owned under this name.',
    example: 'ann',
  })
  @Matches(CALLER_NAME, { message: 'must have 1 to 128 letters, digits or ._@+-' })
  name!: string;

  @ApiPropertyOptional({ enum: PERMISSIONS, isArray: true, minItems: 1, default: ['agents'] })
  @IsArray({ message: 'must be a list' })
  @ArrayMinSize(1, { message: 'must have an entry' })
  @EachEntry(isPermission, `must be one of ${PERMISSIONS.join(', ')}`)
  scopes: Permission[] = ['agents'];
}

/** Replacement of a key. */
@ApiClosed()
export class RotateKeyBody {
  static readonly optional = true;
  static readonly unknown = UNKNOWN;
  static readonly exceptionFactory = keyBodyError;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_OVERLAP_SECONDS,
    default: 0,
    description: 'How long the old key is valid beside the new one.',
    example: 600,
  })
  @IsInt(OVERLAP)
  @Min(0, OVERLAP)
  @Max(MAX_OVERLAP_SECONDS, OVERLAP)
  overlapSeconds = 0;
}

/** Creates the error of a body. It names fields in dotted form: `scopes.0`, and `body` for the whole body. */
function keyBodyError(entries: ProblemEntry[]): A2AError {
  return invalidParams(
    ...entries.map(({ path, detail }) =>
      detail === UNKNOWN
        ? { field: 'body', description: `has no field "${path}"` }
        : { field: path.replaceAll(/\[(\d+)\]/g, '.$1') || 'body', description: detail },
    ),
  );
}

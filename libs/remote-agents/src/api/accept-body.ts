import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';

const HASH = /^[\w-]{0,100}$/;

/** Card to accept. */
export class AcceptBody {
  static readonly optional = true;

  @ApiPropertyOptional({
    pattern: HASH.source,
    description: 'The hash of the card that was looked at: another one is not accepted.',
    example: 'qK3l0x7pS9n1',
  })
  @IsOptional()
  @Matches(HASH, { message: 'must be the hash of a card' })
  hash?: string;
}

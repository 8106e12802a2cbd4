import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';

/** What is accepted. */
export class AcceptBody {
  static readonly optional = true;

  @ApiPropertyOptional({
    description: 'The hash of the card that was looked at: another one is not accepted.',
    example: 'qK3l0x7pS9n1',
  })
  @IsOptional()
  @Matches(/^[\w-]{0,100}$/, { message: 'must be the hash of a card' })
  hash?: string;
}

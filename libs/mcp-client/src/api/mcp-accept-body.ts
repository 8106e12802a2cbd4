import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';

/** What is accepted. */
export class McpAcceptBody {
  static readonly unknown = 'is not known here';

  @ApiProperty({
    description: 'The `hash` of the tools that were looked at: others are not accepted.',
    example: 'qK3l0x7pS9n1',
  })
  @Matches(/^[\w-]{1,100}$/, { message: 'must be the hash of what was seen' })
  hash!: string;
}

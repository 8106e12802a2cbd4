import { ApiClosed } from '#libs/http';
import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';

const HASH = /^[\w-]{1,100}$/;

/** Body that accepts the tools of a server. */
@ApiClosed()
export class McpAcceptBody {
  static readonly unknown = 'is not known here';

  @ApiProperty({
    pattern: HASH.source,
    description: 'The `hash` of the tools that were looked at: others are not accepted.',
    example: 'qK3l0x7pS9n1',
  })
  @Matches(HASH, { message: 'must be the hash of what was seen' })
  hash!: string;
}

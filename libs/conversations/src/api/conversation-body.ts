import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DEFAULT_MAX_TURNS, LONGEST_TURN_MS, MOST_TURNS } from '../conversation.js';

const REFERENCE = 'The name of a workflow or a node, the path of one below `/a2a`, or the URL of an agent.';

/** What a conversation is about, as it is documented; `requestProblems` says what is allowed. */
export class ConversationBody {
  @ApiPropertyOptional({ description: `${REFERENCE} Absent: nobody answers the target.` })
  requester?: string;

  @ApiProperty({ description: REFERENCE })
  target!: string;

  @ApiProperty({ description: 'What the requester says first.' })
  message!: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: MOST_TURNS, default: DEFAULT_MAX_TURNS })
  maxTurns?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    default: LONGEST_TURN_MS,
    description: `Milliseconds for one turn; more than ${LONGEST_TURN_MS} counts as that.`,
  })
  timeoutMs?: number;

  @ApiPropertyOptional({ description: `${REFERENCE} It is told the last text, after the end.` })
  announce?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'The names of stored credentials, by `requester`, `target` and `announce`, for those that are URLs.',
  })
  auth?: Record<string, string>;
}

/** What is said in place of the agent whose turn is next. */
export class TurnBody {
  @ApiProperty()
  text!: string;
}

import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsInt, IsNumber, Max, Min, ValidateBy } from 'class-validator';
import { ApiClosed, EachEntry, IfGiven } from '#libs/http-server';
import { isPlainText } from '#libs/protocol';
import {
  type AgentPolicy,
  DEFAULT_PARK_S,
  DEFAULT_WAIT_S,
  FORGOTTEN,
  type Forgotten,
  isPassableHeader,
  LONGEST_LIMIT_S,
  LONGEST_PARK_S,
  LONGEST_WAIT_S,
  MOST_ENTRIES,
  OPERATIONS,
  type PolicyOperation,
} from '../agents/agent-policy.js';

const SCOPES: ReadonlySet<string> = new Set(['agents', 'workflows', 'admin']);
const LONGEST_NAME = 256;
const MOST_BYTES = 2 ** 30;
const MOST_TURNS = 10_000;
const MOST_MESSAGES = 60_000;
const BYTES_RULE = { message: `must be a whole number from 1 to ${MOST_BYTES}` };
const TURNS_RULE = { message: `must be a whole number from 1 to ${MOST_TURNS}` };
const MESSAGES_RULE = { message: `must be a whole number from 1 to ${MOST_MESSAGES}` };
const WAIT_RULE = { message: `must be a number of seconds, from 0 to ${LONGEST_WAIT_S}` };
const PARK_RULE = { message: `must be a number of seconds, from 1 to ${LONGEST_PARK_S}, or 0` };
const LIMIT_RULE = { message: `must be a number of seconds, from 1 to ${LONGEST_LIMIT_S}` };

/** Policy of a registered agent as callers send it. */
@ApiClosed()
export class AgentPolicyBody implements AgentPolicy {
  static readonly unknown = 'is not a member of a policy';

  @ApiPropertyOptional({
    type: 'number',
    minimum: 0,
    maximum: LONGEST_WAIT_S,
    default: DEFAULT_WAIT_S,
    description: 'Seconds for which an unreachable agent is awaited before the Task fails.',
    example: 60,
  })
  @IfGiven()
  @IsNumber({}, WAIT_RULE)
  @Min(0, WAIT_RULE)
  @Max(LONGEST_WAIT_S, WAIT_RULE)
  wait?: number;

  @ApiPropertyOptional({
    type: 'number',
    minimum: 1,
    maximum: LONGEST_LIMIT_S,
    description: 'Time limit of the answer to one Message, in seconds; default: none.',
    example: 3600,
  })
  @IfGiven()
  @IsNumber({}, LIMIT_RULE)
  @Min(1, LIMIT_RULE)
  @Max(LONGEST_LIMIT_S, LIMIT_RULE)
  limit?: number;

  @ApiPropertyOptional({
    enum: FORGOTTEN,
    default: 'fail',
    description:
      'Reaction to a Task that the agent no longer knows, or a Message that it may or may not have received. ' +
      '`fail`: the Task fails. `resend`: the Message is sent again. `ask`: the Task asks its caller.',
  })
  @IfGiven()
  @IsIn(FORGOTTEN, { message: `must be one of ${FORGOTTEN.join(', ')}` })
  forgotten?: Forgotten;

  @ApiPropertyOptional({
    type: 'number',
    minimum: 0,
    maximum: LONGEST_PARK_S,
    default: DEFAULT_PARK_S,
    description:
      'Seconds without an event after which a Task holds no connection, if the agent offers push notifications and ' +
      'PUBLIC_URL is set; 0: never.',
    example: 30,
  })
  @IfGiven()
  @ValidateBy({ name: 'park', validator: { validate: isPark } }, PARK_RULE)
  park?: number;

  @NameList('Names of the callers that may send Messages; default: all of the tenant.', ['ann'], isCallerName)
  callers?: string[];

  @NameList(
    'Scopes of which a caller must have one. Calls by workflows and other agents of this service have none.',
    ['workflows'],
    isScope,
  )
  scopes?: string[];

  @NameList('Ids of skills: a Message must name one in `metadata.skillId`; default: any.', ['translate'], isShortText)
  skills?: string[];

  @NameList('Operations that callers may use; default: all.', ['SendMessage', 'GetTask'], isOperation)
  methods?: PolicyOperation[];

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MOST_BYTES,
    description: 'Maximum bytes of a Message as JSON; default: the limit of the service.',
    example: 65_536,
  })
  @IfGiven()
  @IsInt(BYTES_RULE)
  @Min(1, BYTES_RULE)
  @Max(MOST_BYTES, BYTES_RULE)
  maxBytes?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MOST_TURNS,
    description:
      'Maximum turns at the agent at the same time, over all replicas. Further ones wait for `wait` seconds.',
    example: 4,
  })
  @IfGiven()
  @IsInt(TURNS_RULE)
  @Min(1, TURNS_RULE)
  @Max(MOST_TURNS, TURNS_RULE)
  concurrency?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MOST_MESSAGES,
    description: 'Maximum Messages to the agent in a minute, over all replicas, evenly spaced.',
    example: 60,
  })
  @IfGiven()
  @IsInt(MESSAGES_RULE)
  @Min(1, MESSAGES_RULE)
  @Max(MOST_MESSAGES, MESSAGES_RULE)
  perMinute?: number;

  @NameList(
    'Names of request headers that are passed on, in lower case; never credentials or headers of the protocol.',
    ['x-request-id'],
    isPassableHeader,
  )
  headers?: string[];
}

function NameList(description: string, example: string[], fits: (entry: unknown) => boolean): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: [String], maxItems: MOST_ENTRIES, description, example }),
    IfGiven(),
    IsArray({ message: 'must be an array' }),
    ArrayMaxSize(MOST_ENTRIES, { message: `must have at most ${MOST_ENTRIES} entries` }),
    EachEntry(fits, 'must be a name that is allowed here'),
  );
}

function isShortText(entry: unknown): boolean {
  return typeof entry === 'string' && entry !== '' && entry.length <= LONGEST_NAME && isPlainText(entry);
}

function isPark(value: unknown): boolean {
  return typeof value === 'number' && (value === 0 || (value >= 1 && value <= LONGEST_PARK_S));
}

/** True for the name of a caller; `''` is the caller of a service without authentication. */
function isCallerName(entry: unknown): boolean {
  return entry === '' || isShortText(entry);
}

function isScope(entry: unknown): boolean {
  return typeof entry === 'string' && SCOPES.has(entry);
}

function isOperation(entry: unknown): boolean {
  return (OPERATIONS as readonly unknown[]).includes(entry);
}

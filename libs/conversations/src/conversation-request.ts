import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  IsNumber,
  IsOptional,
  Matches,
  ValidateBy,
  ValidateNested,
  validateSync,
  type ValidationArguments,
  type ValidationError,
} from 'class-validator';
import { CONVERSATION_ENTRY } from '#libs/agents';
import { ApiClosed, unknownMembers, withMembers } from '#libs/http-server';
import {
  type FieldViolation,
  hasUserinfo,
  isJsonObject,
  type JsonObject,
  LONGEST_URL,
  NO_USERINFO,
} from '#libs/protocol';
import {
  type CalledParty,
  type ConversationSettings,
  DEFAULT_MAX_TURNS,
  DEFAULT_TURN_MS,
  INSTRUCTIONS,
  type Instructions,
  LONGEST_TURN_MS,
  MOST_TURNS,
} from './conversation.js';

export const LONGEST_REFERENCE = LONGEST_URL;

/** Pattern of a text that is not blank. */
export const GIVEN = /\S/;

/**
 * Context of rules about ranges and allowed words: a value that violates such a rule has the right type but is not
 * allowed.
 */
const RANGE = { range: true };

/** Returns a decorator that requires an agent reference: a name, a path or a URL. */
function AgentReference({ required = false } = {}): PropertyDecorator {
  return applyDecorators(
    ...(required ? [] : [IsOptional()]),
    GivenText('must be the name, the path or the URL of an agent'),
    RangeRule((value) => {
      if (typeof value !== 'string') return undefined;
      return hasUserinfo(value) ? NO_USERINFO : value.length > LONGEST_REFERENCE ? 'is too long' : undefined;
    }),
  );
}

/**
 * Returns a decorator that requires a text that is not blank.
 * @param kind error message for a value of another type
 */
function GivenText(kind = 'must be a string'): PropertyDecorator {
  const explainText = ({ value }: ValidationArguments): string => {
    if (value === undefined || value === null) return 'is required';
    return typeof value === 'string' ? 'must not be empty' : kind;
  };
  return Matches(GIVEN, { message: explainText });
}

/** Returns a decorator that requires a whole number within a range, if present. */
function WholeNumber(least: number, most: number): PropertyDecorator {
  const isWithin = (value: number): boolean => Number.isInteger(value) && value >= least && value <= most;
  return applyDecorators(
    IsOptional(),
    IsNumber({}, { message: 'must be a number' }),
    RangeRule((value) =>
      typeof value !== 'number' || isWithin(value) ? undefined : `must be a whole number, from ${least} to ${most}`,
    ),
  );
}

/**
 * Returns a decorator that requires one of the given words, if the member is present. Any other value, even of another
 * type, is reported as a value that is not allowed (RANGE).
 */
function OneOf(words: readonly string[]): PropertyDecorator {
  const isOne = (value: unknown): boolean => words.some((word) => word === value);
  return applyDecorators(
    IsOptional(),
    RangeRule((value) => (isOne(value) ? undefined : `must be ${words.join(' or ')}`)),
  );
}

/** True if the context of a violated rule is RANGE: the value has the right type but is not allowed. */
function isRange(context: unknown): boolean {
  return (context as { range?: boolean } | undefined)?.range === true;
}

function RangeRule(problem: (value: unknown) => string | undefined): PropertyDecorator {
  const isAllowed = (value: unknown): boolean => problem(value) === undefined;
  const explainRange = ({ value }: ValidationArguments): string => problem(value) ?? '';
  return ValidateBy({ name: 'range', validator: { validate: isAllowed } }, { message: explainRange, context: RANGE });
}

/** Problem of a field of a request. `range` is true if the value has the right type but is not allowed. */
export interface RequestProblem extends FieldViolation {
  range: boolean;
}

export const CREDENTIAL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
export const CALLED_AGENTS: readonly string[] = ['requester', 'target', 'announce'] satisfies CalledParty[];

const REFERENCE_FORM = { pattern: GIVEN.source, maxLength: LONGEST_REFERENCE };
const REFERENCE = 'The name of a workflow or a node, the path of one below `/a2a`, or the URL of an agent.';
const CREDENTIALS = 'must be an object: the names of credentials by requester, target, announce';
const NO_CREDENTIAL = { message: 'must be the name of a credential' };

/** Names of the stored credentials for each agent of the conversation. Only remote agents need one. */
@ApiClosed()
class ConversationCredentials {
  static readonly unknown = 'is none of requester, target, announce';

  @CredentialName() requester?: string;
  @CredentialName() target?: string;
  @CredentialName() announce?: string;
}

/** Request for a conversation, from `/api`, over A2A, or in a node's config. */
export class ConversationRequest {
  static readonly unknown: string = 'is not a field of a conversation';

  @ApiPropertyOptional({
    ...REFERENCE_FORM,
    description: `${REFERENCE} If absent, the target gets no reply.`,
    example: 'poet',
  })
  @AgentReference()
  requester?: string;

  @ApiProperty({ ...REFERENCE_FORM, description: REFERENCE, example: 'critic' })
  @AgentReference({ required: true })
  target!: string;

  @ApiProperty({
    pattern: GIVEN.source,
    description: 'First message of the requester.',
    example: 'What do you think of this verse?',
  })
  @GivenText()
  message!: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: MOST_TURNS, default: DEFAULT_MAX_TURNS })
  @WholeNumber(0, MOST_TURNS)
  maxTurns?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: LONGEST_TURN_MS,
    default: DEFAULT_TURN_MS,
    description: 'Time limit of one turn or of the announcement, in milliseconds.',
  })
  @WholeNumber(1, LONGEST_TURN_MS)
  timeoutMs?: number;

  @ApiPropertyOptional({
    ...REFERENCE_FORM,
    description: `${REFERENCE} It receives the last text after the end.`,
    example: 'workflows/archive',
  })
  @AgentReference()
  announce?: string;

  @ApiPropertyOptional({
    enum: INSTRUCTIONS,
    default: 'none',
    description:
      'How remote agents get the prompt of their turn and their own earlier texts: `text`, as a text Part before ' +
      "the other side's text, or `none`. Agents of the service, and agents whose card declares the extension " +
      `\`${CONVERSATION_ENTRY}\`, get both in the Message's metadata.`,
  })
  @OneOf(INSTRUCTIONS)
  instructions?: Instructions;

  @ApiPropertyOptional({
    type: ConversationCredentials,
    description: 'Names of stored credentials, by `requester`, `target` and `announce`, for agents named by URL.',
    example: { target: 'partner' },
  })
  @IsOptional()
  @ValidateNested({ message: CREDENTIALS })
  auth?: ConversationCredentials;
}

/** Returns the problems of a request. Unknown members are problems, too, and are listed last. */
export function wholeRequestProblems(body: JsonObject): RequestProblem[] {
  const strange = unknownMembers(new ConversationRequest(), body);
  return [
    ...requestProblems(body),
    ...strange.map(({ path, detail }) => ({ field: path, description: detail, range: false })),
  ];
}

/** Returns the problems of a request. Unknown members are ignored, except in `auth`. */
export function requestProblems(body: JsonObject): RequestProblem[] {
  const request = withMembers(ConversationRequest, body);
  const { auth } = body;
  if (isJsonObject(auth)) request.auth = withMembers(ConversationCredentials, auth);
  // Class-validator would validate a list as a list of nested objects.
  else if (Array.isArray(auth)) request.auth = 'a list' as ConversationCredentials;
  const errors = validateSync(request, { forbidUnknownValues: false });
  const strange = unknownMembers(request.auth, auth, 'auth');
  return [
    ...errors.map(({ property, ...error }) => problemsOf(property, error)).flat(),
    ...strange.map(({ path, detail }) => ({ field: path, description: detail, range: false })),
    ...misplacedCredentials(body, request.auth, errors),
  ];
}

/** Returns the settings of a valid request, with defaults for absent members. */
export function settingsOf(body: JsonObject): ConversationSettings {
  const { requester, target, message, announce, maxTurns, timeoutMs } = body as Partial<ConversationSettings>;
  const { instructions: words, auth } = body as Partial<ConversationSettings>;
  return {
    ...(requester && { requester }),
    target: target ?? '',
    message: message ?? '',
    maxTurns: maxTurns ?? DEFAULT_MAX_TURNS,
    timeoutMs: timeoutMs ?? DEFAULT_TURN_MS,
    ...(announce && { announce }),
    ...(words && { instructions: words }),
    ...(auth && { auth: withoutNulls(auth) }),
  };
}

function withoutNulls<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, it]) => it !== null)) as T;
}

/** Returns the data of the first Part whose data is an object; `undefined` if there is none. */
export function requestOf(parts: readonly { data?: unknown }[]): JsonObject | undefined {
  return parts.map(({ data }) => data).find((data) => isJsonObject(data));
}

/** Returns the first problem of a field, and the problems of the field's members. */
function problemsOf(
  field: string,
  { constraints = {}, contexts, children = [] }: Partial<ValidationError>,
): RequestProblem[] {
  const own = Object.entries(constraints).map(([rule, description]) => {
    return { field, description, range: isRange(contexts?.[rule]) };
  });
  return [...own.slice(0, 1), ...children.flatMap((child) => problemsOf(`${field}.${child.property}`, child))];
}

/** Returns a problem for each credential that is given for an agent without a URL: agents of this service need none. */
function misplacedCredentials(
  body: JsonObject,
  auth: object | undefined,
  errors: readonly ValidationError[],
): RequestProblem[] {
  const wrong = errors.find(({ property }) => property === 'auth')?.children ?? [];
  const named = CALLED_AGENTS.filter((agent) => {
    if (!isJsonObject(auth) || auth[agent] === undefined || auth[agent] === null) return false;
    return !wrong.some(({ property }) => property === agent);
  });
  return named.flatMap((agent) => {
    const reference = body[agent];
    if (typeof reference === 'string' && /^https?:/i.test(reference)) return [];
    return [{ field: `auth.${agent}`, description: `is for a ${agent} that is named by its URL`, range: false }];
  });
}

function CredentialName(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: String, pattern: CREDENTIAL_NAME.source, example: 'partner' }),
    IsOptional(),
    Matches(CREDENTIAL_NAME, NO_CREDENTIAL),
  );
}

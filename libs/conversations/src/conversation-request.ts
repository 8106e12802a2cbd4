import {
  type FieldViolation,
  hasUserinfo,
  isJsonObject,
  type JsonObject,
  LONGEST_URL,
  NO_USERINFO,
  textStart,
} from '#libs/protocol';
import {
  type CalledParty,
  type ConversationSettings,
  DEFAULT_MAX_TURNS,
  DEFAULT_TURN_MS,
  INSTRUCTIONS,
  LONGEST_TURN_MS,
  MOST_TURNS,
} from './conversation.js';

/** What is wrong with a field; `range`: it is of the right kind, but not an allowed one. */
export interface RequestProblem extends FieldViolation {
  range: boolean;
}

export const LONGEST_REFERENCE = LONGEST_URL;

/** What is wrong with a request for a conversation, one entry for each field. */
export function requestProblems(body: JsonObject): RequestProblem[] {
  return [
    ...reference(body, 'requester'),
    ...reference(body, 'target', true),
    ...text(body),
    ...number(body, 'maxTurns', 0, MOST_TURNS),
    ...number(body, 'timeoutMs', 1, LONGEST_TURN_MS),
    ...reference(body, 'announce'),
    ...instructions(body),
    ...credentials(body),
  ];
}

/** The settings that a request without problems asks for. */
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
    ...(auth && { auth }),
  };
}

/** The first data Part of a Message that is an object. */
export function requestOf(parts: readonly { data?: unknown }[]): JsonObject | undefined {
  return parts.map(({ data }) => data).find((data) => isJsonObject(data));
}

function reference(body: JsonObject, field: string, required = false): RequestProblem[] {
  const value = body[field];
  if (value === undefined || value === null) return required ? [wrong(field, 'is required')] : [];
  if (typeof value !== 'string') return [wrong(field, 'must be the name, the path or the URL of an agent')];
  if (value.trim() === '') return [wrong(field, 'must not be empty')];
  if (hasUserinfo(value)) return [outside(field, NO_USERINFO)];
  return value.length > LONGEST_REFERENCE ? [outside(field, 'is too long')] : [];
}

export const CREDENTIAL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
/** Three agents are called. */
export const MOST_CREDENTIALS = 10;
export const CALLED_AGENTS: readonly string[] = ['requester', 'target', 'announce'] satisfies CalledParty[];

/** A secret is for an agent elsewhere: ours know the caller anyway. */
function credentials(body: JsonObject): RequestProblem[] {
  const { auth } = body;
  if (auth === undefined || auth === null) return [];
  if (!isJsonObject(auth))
    return [wrong('auth', 'must be an object: the names of credentials by requester, target, announce')];
  const entries = Object.entries(auth);
  if (entries.length > MOST_CREDENTIALS) return [wrong('auth', `must not have more than ${MOST_CREDENTIALS} members`)];
  return entries.flatMap(([calledAgent, name]) => {
    const field = `auth.${textStart(calledAgent, 64)}`;
    const agent = body[calledAgent];
    if (!CALLED_AGENTS.includes(calledAgent)) return [wrong(field, 'is none of requester, target, announce')];
    if (typeof name !== 'string' || !CREDENTIAL_NAME.test(name))
      return [wrong(field, 'must be the name of a credential')];
    const isUrl = typeof agent === 'string' && /^https?:/i.test(agent);
    return isUrl ? [] : [wrong(field, `is for a ${calledAgent} that is named by its URL`)];
  });
}

function text({ message }: JsonObject): RequestProblem[] {
  if (message === undefined || message === null) return [wrong('message', 'is required')];
  if (typeof message !== 'string') return [wrong('message', 'must be a string')];
  return message.trim() === '' ? [wrong('message', 'must not be empty')] : [];
}

/** Any other value is one that is not allowed, of whatever type it is. */
function instructions({ instructions: value }: JsonObject): RequestProblem[] {
  const isAllowed = value === undefined || value === null || INSTRUCTIONS.some((word) => word === value);
  return isAllowed ? [] : [outside('instructions', `must be ${INSTRUCTIONS.join(' or ')}`)];
}

function number(body: JsonObject, field: string, least: number, most: number): RequestProblem[] {
  const value = body[field];
  if (value === undefined || value === null) return [];
  if (typeof value !== 'number') return [wrong(field, 'must be a number')];
  if (Number.isInteger(value) && value >= least && value <= most) return [];
  return [outside(field, `must be a whole number, from ${least} to ${most}`)];
}

function wrong(field: string, description: string): RequestProblem {
  return { field, description, range: false };
}

function outside(field: string, description: string): RequestProblem {
  return { field, description, range: true };
}

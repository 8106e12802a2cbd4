import type { ErrorObject } from 'ajv';
import type { FieldViolation } from '#libs/protocol';
import { FORMAT_TEXTS } from './request-schemas.js';

const MAX_VIOLATIONS = 20;

/** Converts schema errors to violations with texts for callers: one per field, at most 20. */
export function fieldViolations(errors: readonly ErrorObject[]): FieldViolation[] {
  const byField = new Map<string, FieldViolation>();
  for (const error of errors) {
    const field = fieldOf(error);
    if (!byField.has(field)) byField.set(field, { field, description: descriptionOf(error) });
    if (byField.size === MAX_VIOLATIONS) break;
  }
  return [...byField.values()];
}

/** Returns the path of an error, such as `message.parts[0]`; for a missing property its own path. */
function fieldOf(error: ErrorObject): string {
  const pointer =
    error.keyword === 'required' ? `${error.instancePath}/${error.params.missingProperty}` : error.instancePath;
  const path = pointer.replaceAll(/\/(\d+)/g, '[$1]').replaceAll('/', '.');
  return path === '' ? 'params' : path.replace(/^\./, '');
}

function descriptionOf(error: ErrorObject): string {
  const limit = error.params.limit as number | undefined;
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'type':
      return `must be ${withArticle(typeName(error.schema))}`;
    case 'enum':
      return `must be ${oneOf(error.schema as (string | null)[])}`;
    case 'format':
      return FORMAT_TEXTS[error.params.format as string] ?? 'has the wrong format';
    case 'minLength':
      return 'must not be empty';
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return 'must have at least one entry';
    case 'minimum':
    case 'maximum':
      return rangeText(error);
    case 'exactlyOneOf':
      return `must have exactly one of ${(error.schema as string[]).join(', ')}`;
    default:
      return 'is not valid';
  }
}

/** Returns the name of the required type. For a boolean it includes the two spellings, since a query has only texts. */
function typeName(schema: unknown): string {
  const types = (Array.isArray(schema) ? schema : [schema]) as string[];
  const name = types.find((it) => it !== 'null') ?? 'null';
  return name === 'boolean' ? 'boolean: true or false' : name;
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

function oneOf(values: readonly (string | null)[]): string {
  const named = values.filter((it) => it !== null && it !== '' && !it.endsWith('_UNSPECIFIED'));
  return named.length === 1 ? String(named[0]) : `one of ${named.join(', ')}`;
}

const INT32_MAX = 2_147_483_647;

function rangeText(error: ErrorObject): string {
  const { minimum, maximum } = error.parentSchema as { minimum?: number; maximum?: number };
  if (maximum === undefined || (maximum === INT32_MAX && error.keyword === 'minimum'))
    return `must be at least ${minimum}`;
  if (minimum === undefined || maximum === INT32_MAX) return `must be at most ${maximum}`;
  return `must be between ${minimum} and ${maximum}`;
}

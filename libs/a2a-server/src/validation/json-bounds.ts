import { A2AError, type FieldViolation } from '#libs/protocol';
import { tooManyMembers } from '#libs/http';

/** Maximum nesting of JSON, that of protobuf's own parsers. */
export const MAX_JSON_DEPTH = 100;

/** Maximum number of entries in one list of a Message; beyond it a request is rejected unread. */
export const MAX_LIST_LENGTH = 1000;

/**
 * Finds why a parsed JSON value must not be stored. Reasons are nesting beyond MAX_JSON_DEPTH (serializing it would
 * overflow the stack) and numbers beyond IEEE 754 (`1e999` parses as Infinity and would be written as `null`).
 */
export function unfitJson(value: unknown): FieldViolation | undefined {
  const found = findUnfit(value, MAX_JSON_DEPTH);
  return found && { field: found.path.replace(/^\./, '') || 'params', description: found.description };
}

interface UnfitPlace {
  path: string;
  description: string;
}

function findUnfit(value: unknown, depthLeft: number): UnfitPlace | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : { path: '', description: 'must be a finite number' };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depthLeft === 0) return { path: '', description: `must not be nested deeper than ${MAX_JSON_DEPTH} levels` };
  return Array.isArray(value) ? searchArray(value, depthLeft) : searchObject(value, depthLeft);
}

function searchArray(values: readonly unknown[], depthLeft: number): UnfitPlace | undefined {
  for (let index = 0; index < values.length; index++) {
    const found = findUnfit(values[index], depthLeft - 1);
    if (found) return { path: `[${index}]${found.path}`, description: found.description };
  }
  return undefined;
}

function searchObject(value: object, depthLeft: number): UnfitPlace | undefined {
  for (const key of Object.keys(value)) {
    const found = findUnfit((value as Record<string, unknown>)[key], depthLeft - 1);
    if (found) return { path: `.${key}${found.path}`, description: found.description };
  }
  return undefined;
}

/** Creates the error for a request whose JSON has too many members. */
export function tooManyMembersError(limit: number): A2AError {
  const description = tooManyMembers(limit);
  const violations = [{ field: 'body', description }];
  return new A2AError('INVALID_REQUEST', { message: `The body ${description}`, violations });
}

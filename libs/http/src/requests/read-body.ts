import { type ValidationError, validateSync } from 'class-validator';
import { refuseTooDeep } from './json-limits.js';
import { malformed, type ProblemEntry } from '../problems/problem.js';

/** A class of request bodies: class-validator says what is allowed, `from` takes over the members it knows. */
export interface BodyType<T extends object> {
  // Each class names the members that it knows; JSON is all that is promised of their values.
  // oxlint-disable-next-line typescript/no-explicit-any
  from(body: any): T;
}

/**
 * A request's body as an instance of its class. Free-form members (`config`, `inputs`) stay the very values that were
 * sent: nothing walks through them, copies or converts them.
 * @throws ProblemError 400 with one entry for each member at fault
 */
export function readBody<T extends object>(type: BodyType<T>, body: unknown): T {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw malformed({ path: '', detail: 'the body must be a JSON object' });
  refuseTooDeep(body);
  const instance = type.from(body);
  const entries = validateSync(instance, { forbidUnknownValues: false }).flatMap((error) => entriesOf(error, ''));
  if (entries.length > 0) throw malformed(...entries);
  return instance;
}

function entriesOf(error: ValidationError, parent: string): ProblemEntry[] {
  const path = pathOf(parent, error.property);
  const own = [...new Set(Object.values(error.constraints ?? {}))].map((detail) => ({ path, detail }));
  return [...own, ...(error.children ?? []).flatMap((child) => entriesOf(child, path))];
}

function pathOf(parent: string, property: string): string {
  if (parent === '') return property;
  return /^\d+$/.test(property) ? `${parent}[${property}]` : `${parent}.${property}`;
}

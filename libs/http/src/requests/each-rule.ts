import { ValidateBy } from 'class-validator';

/** Context that lets `brokenRules` report the invalid entries of a list. */
export interface EachContext {
  test: (entry: unknown) => boolean;
}

/**
 * Requires each entry of a list to pass a test. Unlike class-validator's `each`, it reports the invalid entries, such
 * as `hosts[2]`. Values that are not lists pass; another rule must reject them.
 */
export function EachEntry(test: (entry: unknown) => boolean, detail: string): PropertyDecorator {
  const validate = (value: unknown): boolean => !Array.isArray(value) || value.every(test);
  return ValidateBy({ name: 'eachEntry', validator: { validate } }, { message: detail, context: { test } });
}

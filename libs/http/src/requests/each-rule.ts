import { ValidateBy } from 'class-validator';

/** Tells `brokenRules` which entries of a list are at fault. */
export interface EachContext {
  test: (entry: unknown) => boolean;
}

/**
 * Each entry of a list passes a test; those that do not are named, as `hosts[2]`, which class-validator's own `each` does
 * not. What is no list has another rule to say so.
 */
export function Each(test: (entry: unknown) => boolean, detail: string): PropertyDecorator {
  const validate = (value: unknown): boolean => !Array.isArray(value) || value.every(test);
  return ValidateBy({ name: 'eachEntry', validator: { validate } }, { message: detail, context: { test } });
}

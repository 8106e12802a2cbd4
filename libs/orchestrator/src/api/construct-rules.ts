import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { ValidateBy } from 'class-validator';

/** Accepts `"all"`, `"any"` or `{"n", "cancelRest"?}`. */
export function IsJoin(): PropertyDecorator {
  return ValidateBy(
    { name: 'isJoin', validator: { validate: isJoin } },
    { message: 'must be "all", "any" or {"n": a number, "cancelRest": true or false}' },
  );
}

export function IsNumberOrString(): PropertyDecorator {
  const validate = (value: unknown): boolean => ['number', 'string'].includes(typeof value);
  return ValidateBy(
    { name: 'isNumberOrString', validator: { validate } },
    { message: 'must be a number or a percentage such as "80%"' },
  );
}

function isJoin(value: JsonValue): boolean {
  return value === 'all' || value === 'any' || (isJsonObject(value) && isCount(value));
}

function isCount({ n, cancelRest = null }: JsonObject): boolean {
  return typeof n === 'number' && (cancelRest === null || typeof cancelRest === 'boolean');
}

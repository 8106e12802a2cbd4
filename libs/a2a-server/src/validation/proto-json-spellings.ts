import type { ErrorObject } from 'ajv';
import type { JsonObject, JsonValue } from '#libs/protocol';

/** Pattern of integers; the largest in requests is an int32: ten digits. */
const INTEGER = /^-?\d{1,10}$/;

/**
 * Converts values that a schema rejected but ProtoJSON accepts: an integer written as a string, and an enum written as
 * its number (`numbers` in the schema). Requests with the usual spelling pay nothing.
 * @returns true if any value was converted, so validation is worth repeating
 */
export function respellValues(params: JsonObject, errors: readonly ErrorObject[]): boolean {
  let found = false;
  for (const error of errors) {
    const value = respelledValue(error);
    if (value === undefined) continue;
    const path = error.instancePath.split('/').slice(1);
    const name = path.pop() ?? '';
    const holder = path.reduce<JsonValue | undefined>((at, step) => (at as JsonObject)[step], params) as JsonObject;
    holder[name] = value;
    found = true;
  }
  return found;
}

function respelledValue({ keyword, parentSchema, data }: ErrorObject): string | number | undefined {
  if (keyword !== 'type') return undefined;
  const { type, numbers } = parentSchema as { type?: unknown; numbers?: Readonly<Record<number, string>> };
  if (typeof data === 'number') return numbers?.[data];
  return type === 'integer' && typeof data === 'string' && INTEGER.test(data) ? Number(data) : undefined;
}

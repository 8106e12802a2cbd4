import type { ErrorObject } from 'ajv';
import type { JsonObject, JsonValue } from '#libs/protocol';

/** The largest integer of the requests is an int32: ten digits. */
const INTEGER = /^-?\d{1,10}$/;

/**
 * What a schema refused and ProtoJSON reads all the same, in the spelling of the schema: an integer that is written as a
 * text, and an enum that is written as its number (`numbers` in the schema). Whoever spells as usual pays nothing for it.
 * @returns whether there was any, so that it is worth asking the schema again
 */
export function respell(params: JsonObject, errors: readonly ErrorObject[]): boolean {
  let found = false;
  for (const error of errors) {
    const value = respelt(error);
    if (value === undefined) continue;
    const path = error.instancePath.split('/').slice(1);
    const name = path.pop() ?? '';
    const holder = path.reduce<JsonValue | undefined>((at, step) => (at as JsonObject)[step], params) as JsonObject;
    holder[name] = value;
    found = true;
  }
  return found;
}

function respelt({ keyword, parentSchema, data }: ErrorObject): string | number | undefined {
  if (keyword !== 'type') return undefined;
  const { type, numbers } = parentSchema as { type?: unknown; numbers?: Readonly<Record<number, string>> };
  if (typeof data === 'number') return numbers?.[data];
  return type === 'integer' && typeof data === 'string' && INTEGER.test(data) ? Number(data) : undefined;
}

/** Value that JSON can represent (RFC 8259). */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object; in A2A the ProtoJSON form of `google.protobuf.Struct`. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** True if a value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const CONTROL_OR_SURROGATE = /[\p{Cc}\p{Cs}]/u;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** The string formats of the request schemas, each told by `FORMAT_TEXTS`. */
export const REQUEST_FORMATS: Record<string, (value: string) => boolean> = {
  identifier: (value) => !CONTROL_OR_SURROGATE.test(value),
  base64: isBase64,
  timestamp: (value) => RFC3339.test(value) && !Number.isNaN(Date.parse(value)),
};

export const FORMAT_TEXTS: Record<string, string> = {
  identifier: 'must not contain control characters',
  base64: 'must be base64',
  timestamp: 'must be an RFC 3339 timestamp such as 2025-11-09T10:30:00Z',
};

/** Standard or URL-safe alphabet, with or without padding, as ProtoJSON reads bytes. */
function isBase64(value: string): boolean {
  if (!BASE64.test(value)) return false;
  if (value.endsWith('=')) return value.length % 4 === 0;
  return value.length % 4 !== 1;
}

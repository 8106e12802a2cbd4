import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '#libs/protocol';

/** Maximum number of faults of a request that one error names. */
const MOST_DETAILS = 3;

/**
 * Wraps a `fetch` so that the JSON of an error response has the form of OpenAI, `{"error":{"message":…}}`:
 * - Text Generation Inference and others send a text as `error`.
 * - vLLM before 0.10 sends `message` without `error`.
 * - FastAPI sends `detail`, a text or a list of faults.
 * - Google sends the error in a list.
 *
 * Other bodies pass unchanged, and so does what a web server says of an unknown path (404).
 */
export function withCommonErrors(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.ok || !response.body) return response;
    const { status, statusText, headers } = response;
    const text = await response.text();
    const error = findError(tryParseJson(text), status);
    return new Response(error ? JSON.stringify({ error }) : text, { status, statusText, headers });
  };
}

/** Returns an error in the form of OpenAI that replaces a text; `undefined` for any other value. */
export function errorInWords(error: JsonValue | undefined): JsonObject | undefined {
  return typeof error === 'string' && error !== '' ? { message: error } : undefined;
}

function findError(body: JsonValue | undefined, status: number): JsonObject | undefined {
  if (Array.isArray(body))
    return isJsonObject(body[0]) && isJsonObject(body[0]['error']) ? body[0]['error'] : undefined;
  if (!isJsonObject(body) || isJsonObject(body['error'])) return undefined;
  const isOfServer = status === 404 && body['object'] !== 'error';
  return (
    errorInWords(body['error']) ?? (isOfServer ? undefined : errorInWords(body['message'] ?? describeDetail(body)))
  );
}

function describeDetail({ detail }: JsonObject): JsonValue | undefined {
  if (!Array.isArray(detail)) return detail;
  return detail.slice(0, MOST_DETAILS).flatMap(describeFault).join('; ');
}

function describeFault(fault: JsonValue): string[] {
  if (!isJsonObject(fault) || typeof fault['msg'] !== 'string') return [];
  const place = Array.isArray(fault['loc']) ? `${fault['loc'].map(String).join('.')}: ` : '';
  return [`${place}${fault['msg']}`];
}

import { isJsonObject, type JsonObject } from '#libs/protocol';

/** Members of a message that some servers send as null for absent. */
const NULL_MEMBER = /"(?:_meta|error|result|params)"\s*:\s*null/;
const DATA = 'data:';

/** Removes null members from the messages of a response, both in JSON and in events. */
export function withoutNullMembers(response: Response): Response {
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/event-stream\b/i.test(type) && response.body) return withEvents(response, response.body);
  if (!/^application\/json\b/i.test(type)) return response;
  return Object.defineProperty(response, 'json', {
    value: async () => {
      const message = JSON.parse(await response.text()) as unknown;
      return Array.isArray(message) ? message.map(repairMessage) : repairMessage(message);
    },
  });
}

function withEvents(response: Response, body: ReadableStream<Uint8Array<ArrayBuffer>>): Response {
  const { status, statusText, headers, url } = response;
  const repaired = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(wholeLines())
    .pipeThrough(new TextEncoderStream());
  return Object.defineProperty(new Response(repaired, { status, statusText, headers }), 'url', { value: url });
}

/** Transforms whole lines, in time linear in their length. */
function wholeLines(): TransformStream<string, string> {
  let begun: string[] = [];
  return new TransformStream({
    transform(piece, controller) {
      const end = Math.max(piece.lastIndexOf('\n'), piece.lastIndexOf('\r')) + 1;
      if (end === 0) return void begun.push(piece);
      begun.push(piece.slice(0, end));
      controller.enqueue(repairedLines(begun.join('')));
      begun = [piece.slice(end)];
    },
    flush: (controller) => controller.enqueue(repairedLines(begun.join(''))),
  });
}

function repairedLines(text: string): string {
  if (!NULL_MEMBER.test(text)) return text;
  return text
    .split(/(?<=[\r\n])/)
    .map((line) => (line.startsWith(DATA) && NULL_MEMBER.test(line) ? repairedLine(line) : line))
    .join('');
}

/** Repairs the data line of an event. A message that spans several lines stays unchanged. */
function repairedLine(line: string): string {
  try {
    const ends = line.slice(line.trimEnd().length);
    return `data: ${JSON.stringify(repairMessage(JSON.parse(line.slice(DATA.length))))}${ends}`;
  } catch {
    return line;
  }
}

function repairMessage(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  const { error, result, params, ...rest } = message;
  return {
    ...rest,
    ...(error !== null && error !== undefined && { error }),
    ...(result !== null && result !== undefined && { result: withoutNullMeta(result) }),
    ...(params !== null && params !== undefined && { params: withoutNullMeta(params) }),
  };
}

function withoutNullMeta(value: unknown): unknown {
  if (!isJsonObject(value) || value['_meta'] !== null) return value;
  const { _meta, ...rest } = value as JsonObject;
  return rest;
}

import { OutboundRefusedError, OutboundTimeoutError } from '#libs/http-client';
import { hasMoreMembers, refuseUnfitJson, tooManyMembers } from '#libs/http-server';
import { hasUserinfo, type JsonObject, type JsonValue, NO_USERINFO, redactedUrl, textBefore } from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { NodeFailure } from '../node-executor.js';
import type { Tool, ToolContext } from './tool-registry.js';

/** Number of bytes at the start of a page in which HTML declares its character set. */
const HEAD_BYTES = 1_024;
const MARKS: readonly [label: string, bytes: readonly number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/**
 * Returns the text of a response body. The character set comes from the byte order mark, else `content-type`, else the
 * head of an HTML page, else it is UTF-8. An unknown set is read as UTF-8.
 */
export function decodedText(body: Uint8Array, contentType: string): string {
  const label = markOf(body) ?? charsetOf(contentType) ?? (isHtml(contentType) ? charsetOfPage(body) : undefined);
  return decodeBytes(body, label);
}

function markOf(body: Uint8Array): string | undefined {
  return MARKS.find(([, bytes]) => bytes.every((byte, place) => body[place] === byte))?.[0];
}

/** Returns the `charset` of a media type; its value may be quoted. */
function charsetOf(contentType: string): string | undefined {
  const parameters = contentType.split(';').slice(1);
  const value = parameters.map((it) => /^\s*charset\s*=\s*["']?([^"']*)/i.exec(it)?.[1]).find((it) => it !== undefined);
  return value?.trim();
}

function isHtml(contentType: string): boolean {
  return /^(text\/html|application\/xhtml\+xml)$/i.test(textBefore(contentType, ';').trim());
}

/** Returns the charset that a page declares. A declared UTF-16 is read as UTF-8 (HTML, "prescan a byte stream"). */
function charsetOfPage(body: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(body.subarray(0, HEAD_BYTES));
  const tags = head.split(/<meta\s/i).slice(1);
  const said = tags.map((it) => /\bcharset\s*=\s*["']?([\w.:-]+)/i.exec(textBefore(it, '>'))?.[1]);
  const label = said.find((it) => it !== undefined);
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

function decodeBytes(body: Uint8Array, label: string | undefined): string {
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** Reads a web resource through the outbound client. Valid JSON becomes data, any other content text. */
export class HttpGet implements Tool {
  readonly name = 'http_get';
  readonly description = 'Reads a web resource by HTTP GET';
  readonly repeatable = true;
  readonly parameters: JsonObject = {
    type: 'object',
    properties: { url: { type: 'string', description: 'An http or https URL' } },
    required: ['url'],
  };

  constructor(
    private readonly fetch: typeof globalThis.fetch,
    private readonly timeoutMs = TIMEOUT_MS,
    private readonly mostMembers = DEFAULT_CONTENT_LIMITS.jsonMembers,
  ) {}

  async runTool({ url }: JsonObject, { signal }: ToolContext): Promise<JsonValue> {
    const address = url as string;
    if (!URL.canParse(address) || !/^https?:/i.test(address))
      throw new NodeFailure('http_get: url must be an http or https URL');
    if (hasUserinfo(address)) throw new NodeFailure(`http_get: url ${NO_USERINFO}`);
    try {
      const response = await this.fetch(address, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(this.timeoutMs)]),
      });
      if (!response.ok) {
        await response.body?.cancel();
        throw new NodeFailure(`http_get: HTTP ${response.status} from ${redactedUrl(address)}`);
      }
      const contentType = response.headers.get('content-type') ?? '';
      return this.#parseBody(decodedText(await bodyOf(response), contentType), contentType);
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof NodeFailure ? error : new NodeFailure(`http_get: ${causeOf(error)}`, { cause: error });
    }
  }

  #parseBody(text: string, contentType: string): JsonValue {
    if (!/[/+]json\b/i.test(contentType)) return text;
    if (hasMoreMembers(text, this.mostMembers))
      throw new NodeFailure(`http_get: the answer ${tooManyMembers(this.mostMembers)}`);
    try {
      const value = JSON.parse(text) as JsonValue;
      refuseUnfitJson(value);
      return value;
    } catch {
      return text;
    }
  }
}

/** Reads the body. @throws NodeFailure if it is too long */
async function bodyOf(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of response.body ?? []) {
    received += chunk.byteLength;
    if (received > MAX_BYTES) throw new NodeFailure(`http_get: the answer is longer than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function causeOf(error: unknown): string {
  if (error instanceof OutboundRefusedError) return 'the address may not be called';
  const isTimeout = error instanceof OutboundTimeoutError || (error as Error).name === 'TimeoutError';
  return isTimeout ? 'timeout' : 'no connection';
}

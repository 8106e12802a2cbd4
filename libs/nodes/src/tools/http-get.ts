import { hasMoreMembers, refuseUnfitJson, tooManyMembers } from '#libs/http';
import { OutboundRefusedError, OutboundTimeoutError } from '#libs/outbound';
import { type JsonObject, type JsonValue, hasUserinfo, NO_USERINFO, redactedUrl } from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { NodeFailure } from '../node-failure.js';
import { decodedText } from './decoded-text.js';
import type { Tool, ToolContext } from './tool.js';

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

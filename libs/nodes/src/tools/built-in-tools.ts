import { OutboundFault } from '#libs/http-client';
import { hasMoreMembers, tooManyMembers, tryParseFitJson } from '#libs/http-server';
import { hasUserinfo, type JsonObject, type JsonValue, NO_USERINFO, redactedUrl, textBefore } from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { NodeFailure } from '../node-executor.js';
import type { Tool, ToolContext } from './tool-registry.js';

/** Error of a text that is not a valid arithmetic expression. */
export class ArithmeticError extends Error {
  override readonly name = 'ArithmeticError';
}

const MAX_LENGTH = 1_000;
const TOKEN = /\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(\*\*|[-+*/%^()]))/y;

/**
 * Evaluates an arithmetic expression: numbers, `+ - * / %`, powers (`^` or `**`, right to left), signs and parentheses.
 * Nothing is executed as code.
 * @throws ArithmeticError
 */
export function evaluateArithmetic(expression: string): number {
  if (expression.length > MAX_LENGTH)
    throw new ArithmeticError(`the expression is longer than ${MAX_LENGTH} characters`);
  const parser = new Parser(tokensOf(expression));
  const value = parser.parseWhole();
  if (!Number.isFinite(value)) throw new ArithmeticError('the result is not a finite number');
  return value;
}

function tokensOf(expression: string): string[] {
  const tokens: string[] = [];
  const text = expression.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new ArithmeticError(`unexpected "${text.slice(start).trimStart()[0]}"`);
    tokens.push(match[1] ?? match[2] ?? '');
  }
  return tokens;
}

class Parser {
  #position = 0;

  constructor(private readonly tokens: readonly string[]) {}

  parseWhole(): number {
    const value = this.#parseSum();
    if (this.#next !== undefined) throw new ArithmeticError(`unexpected "${this.#next}"`);
    return value;
  }

  #parseSum(): number {
    let value = this.#parseProduct();
    for (let sign = this.#takeToken('+', '-'); sign; sign = this.#takeToken('+', '-')) {
      value = sign === '+' ? value + this.#parseProduct() : value - this.#parseProduct();
    }
    return value;
  }

  #parseProduct(): number {
    let value = this.#parseSigned();
    for (let sign = this.#takeToken('*', '/', '%'); sign; sign = this.#takeToken('*', '/', '%')) {
      const right = this.#parseSigned();
      value = sign === '*' ? value * right : sign === '/' ? value / right : value % right;
    }
    return value;
  }

  #parseSigned(): number {
    const sign = this.#takeToken('+', '-');
    if (sign) return sign === '-' ? -this.#parseSigned() : this.#parseSigned();
    return this.#parsePower();
  }

  #parsePower(): number {
    const value = this.#parseAtom();
    return this.#takeToken('^', '**') ? value ** this.#parseSigned() : value;
  }

  #parseAtom(): number {
    if (this.#takeToken('(')) {
      const value = this.#parseSum();
      if (!this.#takeToken(')')) throw new ArithmeticError('a parenthesis is not closed');
      return value;
    }
    const token = this.#next;
    if (token === undefined) throw new ArithmeticError('the expression ends too early');
    const value = Number(token);
    if (Number.isNaN(value)) throw new ArithmeticError(`unexpected "${token}"`);
    this.#position += 1;
    return value;
  }

  get #next(): string | undefined {
    return this.tokens[this.#position];
  }

  #takeToken(...wanted: string[]): string | undefined {
    const token = this.#next;
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.#position += 1;
    return token;
  }
}

/** Tool `calculator`: evaluates an arithmetic expression. */
export class Calculator implements Tool {
  readonly name = 'calculator';
  readonly description = 'The value of an arithmetic expression';
  readonly repeatable = true;
  readonly parameters: JsonObject = {
    type: 'object',
    properties: { expression: { type: 'string', description: 'For example (2 + 3) * 4' } },
    required: ['expression'],
  };

  runTool({ expression }: JsonObject): number {
    try {
      return evaluateArithmetic(expression as string);
    } catch (error) {
      if (error instanceof ArithmeticError) throw new NodeFailure(`calculator: ${error.message}`, { cause: error });
      throw error;
    }
  }
}

/** Tool `current_time`: returns the time in ISO 8601 and UTC, or the local time of a requested time zone. */
export class CurrentTime implements Tool {
  readonly name = 'current_time';
  readonly description = 'The current date and time';
  readonly repeatable = true;
  readonly parameters: JsonObject = {
    type: 'object',
    properties: { timezone: { type: 'string', description: 'An IANA time zone, for example Europe/Paris' } },
  };

  constructor(private readonly now: () => Date = () => new Date()) {}

  runTool({ timezone }: JsonObject): string {
    const now = this.now();
    if (typeof timezone !== 'string') return now.toISOString();
    try {
      const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' });
      return `${format.format(now)} ${timezone}`;
    } catch (error) {
      throw new NodeFailure(`unknown time zone "${timezone}"`, { cause: error });
    }
  }
}

/** Number of bytes at the start of an HTML page that are searched for its character set. */
const HEAD_BYTES = 1_024;
/** Byte order marks, each with the label of its character set. */
const MARKS: readonly [label: string, bytes: readonly number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/**
 * Decodes the body of a response to text. The character set is taken from the byte order mark; without one from
 * `content-type`; else from the head of an HTML page; else it is UTF-8. A body with an unknown character set is read as
 * UTF-8.
 */
export function decodedText(body: Uint8Array, contentType: string): string {
  const label = markOf(body) ?? charsetOf(contentType) ?? (isHtml(contentType) ? charsetOfPage(body) : undefined);
  return decodeBytes(body, label);
}

function markOf(body: Uint8Array): string | undefined {
  return MARKS.find(([, bytes]) => bytes.every((byte, place) => body[place] === byte))?.[0];
}

/** Returns the parameter `charset` of a media type; `undefined` if there is none. The value may be quoted. */
function charsetOf(contentType: string): string | undefined {
  const parameters = contentType.split(';').slice(1);
  const value = parameters.map((it) => /^\s*charset\s*=\s*["']?([^"']*)/i.exec(it)?.[1]).find((it) => it !== undefined);
  return value?.trim();
}

function isHtml(contentType: string): boolean {
  return /^(text\/html|application\/xhtml\+xml)$/i.test(textBefore(contentType, ';').trim());
}

/**
 * Returns the character set that an HTML page declares in its head; `undefined` if there is none. A declared UTF-16 is
 * read as UTF-8 (HTML, "prescan a byte stream").
 */
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

/**
 * Tool `http_get`: reads a web resource through the outbound client. Valid JSON becomes data, any other content becomes
 * text.
 */
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
    const value = tryParseFitJson(text);
    return value === undefined ? text : value;
  }
}

/** Reads the body of a response. @throws NodeFailure if it is longer than 1 MiB */
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
  const kind = error instanceof OutboundFault ? error.kind : undefined;
  if (kind === 'refused') return 'the address may not be called';
  return kind === 'timeout' || (error as Error).name === 'TimeoutError' ? 'timeout' : 'no connection';
}

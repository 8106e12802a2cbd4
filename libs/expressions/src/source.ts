import { parse } from '@bufbuild/cel';
import { briefText } from '#libs/protocol';
import { InvalidExpression } from './expression-error.js';

export type ParsedSource = ReturnType<typeof parse>;
export type Syntax = ParsedSource['expr'];

const LONGEST_SOURCE = 2_000;
const DEEPEST = 60;
const LONGEST_MESSAGE = 200;

/**
 * Token of CEL. A string literal or a comment is one token, so the brackets in it are no tokens. A token that is only a
 * quotation mark is the beginning of a string literal without an end.
 */
const TOKEN = new RegExp(
  [
    String.raw`(?:[bB]?[rR]|[rR][bB])(?:'''[^]*?'''|"""[^]*?"""|'[^'\r\n]*'|"[^"\r\n]*")`,
    String.raw`[bB]?(?:'''(?:\\[^]|[^\\])*?'''|"""(?:\\[^]|[^\\])*?"""|'(?:\\.|[^\\'\r\n])*'|"(?:\\.|[^\\"\r\n])*")`,
    String.raw`\/\/[^\n]*`,
    String.raw`\w+`,
    String.raw`[^]`,
  ].join('|'),
  'y',
);
const ESCAPED_TEXT = /^[bB]?["']/;
/**
 * Backslash and the characters after it in a string literal. If they are an escape sequence of CEL, the group of the
 * match is the sequence without its backslash. Otherwise the group is `undefined`.
 */
const ESCAPE = /\\(?:([abfnrtv\\"'`?]|[xX][\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-3][0-7]{2})|[^])/gu;
const CLOSING = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);
const CLOSERS = new Set(CLOSING.values());

/**
 * Parses a CEL expression.
 * @throws InvalidExpression if the text is not an expression, has more than 2,000 characters, or is nested too deeply
 */
export function parsedSource(text: string): ParsedSource {
  if (text.length > LONGEST_SOURCE)
    throw new InvalidExpression(`an expression has at most ${LONGEST_SOURCE} characters`, LONGEST_SOURCE);
  if (text.trim() === '') throw new InvalidExpression('an expression is missing', 0);
  checkTokens(text);
  try {
    return parse(text);
  } catch (error) {
    throw toInvalidExpression(error, text);
  }
}

/**
 * Returns the index of the `}` that closes a `{`, or -1 if there is none. Braces in string literals and comments do
 * not count.
 * @param from index right after the `{`
 */
export function closingBrace(text: string, from: number): number {
  let open = 0;
  for (const { token, offset } of scanTokens(text, from)) {
    if (token === "'" || token === '"') return -1;
    if (token === '{') open += 1;
    // The expression is nested too deeply and is refused anyway, so its true end does not matter. The search for it
    // could take long.
    if (open > DEEPEST) return offset + 1;
    if (token === '}' && open-- === 0) return offset;
  }
  return -1;
}

/**
 * Checks brackets and escape sequences before CEL parses the text. The parser itself reports no exact position for a
 * missing bracket, and reads an unknown escape as if it were another one.
 * @throws InvalidExpression
 */
function checkTokens(text: string): void {
  const open: { token: string; offset: number }[] = [];
  for (const { token, offset } of scanTokens(text, 0)) {
    if (token === "'" || token === '"') throw new InvalidExpression('this text has no end', offset);
    if (ESCAPED_TEXT.test(token)) checkEscapes(token, offset);
    if (CLOSING.has(token)) open.push({ token, offset });
    else if (CLOSERS.has(token)) {
      const last = open.pop();
      if (last === undefined || CLOSING.get(last.token) !== token)
        throw new InvalidExpression(`there is nothing that this ${token} closes`, offset);
    }
    if (open.length > DEEPEST)
      throw new InvalidExpression(`an expression has at most ${DEEPEST} brackets in each other`, offset);
  }
  const last = open.pop();
  if (last) throw new InvalidExpression(`this ${last.token} is never closed`, last.offset);
}

function checkEscapes(token: string, offset: number): void {
  const isBytes = /^b/i.test(token);
  for (const { 0: written, 1: known, index } of token.matchAll(ESCAPE)) {
    const point = /^u/i.test(known ?? '') ? Number.parseInt(written.slice(2), 16) : undefined;
    if (known !== undefined && point === undefined) continue;
    if (point === undefined || isBytes)
      throw new InvalidExpression(
        `there is no escape ${written} here; a backslash is written \\\\, a ${isBytes ? 'byte \\xe9' : 'character \\u00e9 or \\U0001f600'}`,
        offset + index,
      );
    if (point > 0x10_ff_ff || (point >= 0xd8_00 && point < 0xe0_00))
      throw new InvalidExpression(`${written} is no character`, offset + index);
  }
}

function* scanTokens(text: string, from: number): Generator<{ token: string; offset: number }> {
  const pattern = new RegExp(TOKEN);
  pattern.lastIndex = from;
  for (let offset = from; offset < text.length; offset = pattern.lastIndex) {
    const token = pattern.exec(text)?.[0];
    if (token === undefined) return;
    yield { token, offset };
  }
}

function toInvalidExpression(error: unknown, text: string): InvalidExpression {
  const { message, location } = error as { message: string; location?: { start?: { offset?: number } } };
  const offset = location?.start?.offset ?? 0;
  if (error instanceof RangeError) return new InvalidExpression('this is nested too deeply', offset);
  const said = message
    .replace(/^<input>:\d+:\d+: /, '')
    // The parser counts a surrogate pair as two characters.
    .replace(/^found [\ud800-\udbff](?=\s)/, () => `found ${String.fromCodePoint(text.codePointAt(offset) ?? 0)}`);
  return new InvalidExpression(briefText(said, LONGEST_MESSAGE), offset);
}

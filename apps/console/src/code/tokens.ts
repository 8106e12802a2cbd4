import type { CodeLanguage } from './code.js';

/** A part of a text that is shown in a color. */
export interface CodeToken {
  from: number;
  to: number;
  kind: 'function' | 'keyword' | 'name' | 'number' | 'reference' | 'string';
}

const REFERENCE = String.raw`(?<reference>\{\{\w+(?:\.\w+)*\}\})`;
/** Pattern of the parts of CEL that are colored, and of braces: in a template, a brace may end an expression. */
const CEL = [
  String.raw`(?<comment>//[^\n]*)`,
  String.raw`(?<string>[rRbB]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))`,
  String.raw`(?<number>\d[\w.]*)`,
  String.raw`(?<keyword>\b(?:true|false|null|in)\b)`,
  String.raw`(?<function>\b[A-Za-z_]\w*(?=\())`,
  String.raw`(?<name>\b[A-Za-z_]\w*)`,
  String.raw`(?<brace>[{}])`,
].join('|');
const JSON_TOKENS = [
  String.raw`(?<name>"(?:\\.|[^"\\\n])*"(?=\s*:))`,
  String.raw`(?<string>"(?:\\.|[^"\\\n])*"?)`,
  String.raw`(?<number>-?\d[\d.eE+-]*)`,
  String.raw`(?<keyword>\b(?:true|false|null)\b)`,
].join('|');

const OPENING = '${';

/** Returns the tokens of a text, in order. */
export function findTokens(text: string, language: CodeLanguage): CodeToken[] {
  if (language === 'expression') return findExpressionTokens(text, 0).tokens;
  if (language === 'template') return readTemplate(text).tokens;
  return [...text.matchAll(new RegExp(language === 'json' ? JSON_TOKENS : REFERENCE, 'g'))].flatMap(toTokens);
}

/** True if a template ends inside an expression: after a `${` without its closing brace. */
export function endsInExpression(text: string): boolean {
  return readTemplate(text).isOpen;
}

/** Returns the tokens of a template. `isOpen` is true if its last expression is not closed. */
function readTemplate(text: string): { tokens: CodeToken[]; isOpen: boolean } {
  const pattern = new RegExp(String.raw`${REFERENCE}|\$\{`, 'g');
  const tokens: CodeToken[] = [];
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    if (match[0] !== OPENING) {
      tokens.push(...toTokens(match));
      continue;
    }
    const inside = findExpressionTokens(text, pattern.lastIndex);
    tokens.push({ from: match.index, to: pattern.lastIndex, kind: 'keyword' }, ...inside.tokens);
    if (inside.end === undefined) return { tokens, isOpen: true };
    pattern.lastIndex = inside.end + 1;
    tokens.push({ from: inside.end, to: pattern.lastIndex, kind: 'keyword' });
  }
  return { tokens, isOpen: false };
}

/**
 * Returns the tokens of an expression.
 * @param from offset at which the expression begins
 * @returns `end` the offset of the brace that closes the expression; `undefined` if none does
 */
function findExpressionTokens(text: string, from: number): { tokens: CodeToken[]; end?: number } {
  const pattern = new RegExp(CEL, 'g');
  pattern.lastIndex = from;
  const tokens: CodeToken[] = [];
  let depth = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    depth += match[0] === '{' ? 1 : match[0] === '}' ? -1 : 0;
    if (depth < 0) return { tokens, end: match.index };
    // Only the first name of a path is a variable.
    if (match.groups?.['name'] === undefined || text[match.index - 1] !== '.') tokens.push(...toTokens(match));
  }
  return { tokens };
}

function toTokens({ index, 0: text, groups = {} }: RegExpExecArray): CodeToken[] {
  const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
  if (kind === undefined || kind === 'brace' || kind === 'comment') return [];
  return [{ from: index, to: index + text.length, kind: kind as CodeToken['kind'] }];
}

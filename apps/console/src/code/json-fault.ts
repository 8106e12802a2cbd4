/** Kinds of things that may come next in a JSON text. */
type Expected = 'colon' | 'comma' | 'key' | 'key or end' | 'nothing' | 'value' | 'value or end';

const SPACE = /[ \t\n\r]*/y;
const TOKEN = new RegExp(
  [
    String.raw`(?<mark>[{}[\],:])`,
    String.raw`(?<text>"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")`,
    String.raw`(?<plain>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)`,
  ].join('|'),
  'y',
);

/**
 * Returns the offset of the first character that is not valid JSON; `undefined` for JSON. The message of `JSON.parse`
 * has this offset only in some browsers.
 */
export function findJsonFault(text: string): number | undefined {
  const open: string[] = [];
  let expected: Expected = 'value';
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, TOKEN.lastIndex)) {
    TOKEN.lastIndex = at;
    const { mark, text: quoted } = TOKEN.exec(text)?.groups ?? {};
    if (TOKEN.lastIndex === 0) return at;
    const next = expectAfter(expected, mark ?? (quoted === undefined ? 'plain' : 'text'), open);
    if (next === undefined) return at;
    expected = next;
  }
  return expected === 'nothing' ? undefined : text.length;
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.exec(text);
  return SPACE.lastIndex;
}

/**
 * Returns what may follow a token; `undefined` if the token may not stand there.
 * @param open brackets that are open before the token; the call changes the array to the brackets open after it
 */
function expectAfter(expected: Expected, token: string, open: string[]): Expected | undefined {
  if (expected === 'colon') return token === ':' ? 'value' : undefined;
  if (token === ',' && expected === 'comma') return open.at(-1) === '{' ? 'key' : 'value';
  if (token === '}' || token === ']') return closeBracket(expected, token, open);
  if (expected === 'key' || expected === 'key or end') return token === 'text' ? 'colon' : undefined;
  if (expected !== 'value' && expected !== 'value or end') return undefined;
  if (token === '{' || token === '[') {
    open.push(token);
    return token === '{' ? 'key or end' : 'value or end';
  }
  return token === 'text' || token === 'plain' ? expectAfterValue(open) : undefined;
}

function closeBracket(expected: Expected, token: '}' | ']', open: string[]): Expected | undefined {
  const mayClose = expected === 'comma' || expected === (token === '}' ? 'key or end' : 'value or end');
  if (!mayClose || open.pop() !== (token === '}' ? '{' : '[')) return undefined;
  return expectAfterValue(open);
}

function expectAfterValue(open: readonly string[]): Expected {
  return open.length > 0 ? 'comma' : 'nothing';
}

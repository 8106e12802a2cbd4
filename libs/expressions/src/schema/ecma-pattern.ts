/** White space of ECMA-262 as ranges for a character class. RE2's `\s` covers ASCII alone. */
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const NO_SPACE = [
  String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}`,
  String.raw`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`,
].join('');
const ANY = String.raw`[^\n\r\x{2028}\x{2029}]`;

/** Syntax of RE2 that JavaScript lacks: quoted parts, and flags within a pattern. */
const ONLY_RE2 = /\\Q|\(\?[a-zA-Z-]*s/;

/**
 * Translates a pattern for RE2 so that `\s`, `\S` and `.` mean what ECMA-262 says, as JSON Schema requires: a no-break
 * space is white space, and `.` matches no line terminator. A pattern with syntax of RE2 alone (`\Q`, the flag `s`) is
 * returned unchanged.
 */
export function ecmaPattern(pattern: string): string {
  if (ONLY_RE2.test(pattern)) return pattern;
  let [translated, inClass] = ['', false];
  for (let index = 0; index < pattern.length; index += 1) {
    const one = pattern.charAt(index);
    if (one === '\\') {
      index += 1;
      translated += translateEscape(pattern.charAt(index), inClass);
    } else if (inClass && pattern.startsWith('[:', index) && pattern.includes(':]', index)) {
      const end = pattern.indexOf(':]', index) + 2;
      translated += pattern.slice(index, end);
      index = end - 1;
    } else {
      // At the start of a class, a closing bracket stands for itself.
      const begins = !inClass && one === '[';
      const negates = begins && pattern.charAt(index + 1) === '^';
      const first = begins
        ? (negates ? '[^' : '[') + (pattern.charAt(index + (negates ? 2 : 1)) === ']' ? ']' : '')
        : one;
      inClass = begins || (inClass && one !== ']');
      translated += first === '.' && !inClass ? ANY : first;
      index += first.length - 1;
    }
  }
  return translated;
}

function translateEscape(letter: string, inClass: boolean): string {
  const ranges = letter === 's' ? SPACE : letter === 'S' ? NO_SPACE : undefined;
  if (ranges === undefined) return `\\${letter}`;
  return inClass ? ranges : `[${ranges}]`;
}

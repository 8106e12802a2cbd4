/** White space of ECMA-262, as ranges that stand in a class. RE2 takes that of ASCII alone for `\s`. */
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const NO_SPACE = [
  String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}`,
  String.raw`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`,
].join('');
const ANY = String.raw`[^\n\r\x{2028}\x{2029}]`;

/** Syntax that JavaScript does not have: a part that is quoted, and flags within a pattern. */
const ONLY_RE2 = /\\Q|\(\?[a-zA-Z-]*s/;

/**
 * Returns a pattern for RE2 in which `\s`, `\S` and `.` mean what ECMA-262 says, which JSON Schema names: a no-break space
 * is white space, and `.` is no end of a line. One that uses what RE2 alone has (`\Q`, the flag `s`) stays as it is.
 */
export function ecmaPattern(pattern: string): string {
  if (ONLY_RE2.test(pattern)) return pattern;
  let [translated, inClass] = ['', false];
  for (let index = 0; index < pattern.length; index += 1) {
    const one = pattern.charAt(index);
    if (one === '\\') {
      index += 1;
      translated += escaped(pattern.charAt(index), inClass);
    } else if (inClass && pattern.startsWith('[:', index) && pattern.includes(':]', index)) {
      const end = pattern.indexOf(':]', index) + 2;
      translated += pattern.slice(index, end);
      index = end - 1;
    } else {
      // A bracket that closes nothing stands for itself where a class begins.
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

function escaped(letter: string, inClass: boolean): string {
  const ranges = letter === 's' ? SPACE : letter === 'S' ? NO_SPACE : undefined;
  if (ranges === undefined) return `\\${letter}`;
  return inClass ? ranges : `[${ranges}]`;
}

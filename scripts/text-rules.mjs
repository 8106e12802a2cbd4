/**
 * Rules for code that reads untrusted texts: no regular expression whose time grows faster than the text, and no cut
 * within a character. A rule examines one line, so it knows an expression, but not the origin of a text.
 */
/** Pattern of one character or character class in an expression; escapes such as `\uFFFD` have several letters. */
const ATOM = String.raw`(?:\\u\{[^}]*\}|\\u[\dA-Fa-f]{4}|\\x[\dA-Fa-f]{2}|\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|[^\\[\](){}^$|?*+.]|\.)`;
/** Pattern of an expression between slashes, at a place where a value may be. */
const LITERAL = /(?<=[(,=:&|!?\s[{]|^)\/(?![/*])((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+)\/([dgimsuvy]*)/g;
/** Pattern of expressions that begin with a repetition, possibly after opening parentheses. */
const REPEATED_FIRST = new RegExp(`^(?:\\((?:\\?:|\\?<\\w+>)?)*${ATOM}(?:[+*]|\\{\\d+,\\})\\??(?!\\)*(?:[|?]|$))`);
const REPEATED_LAST = new RegExp(`^(${ATOM})(${ATOM})[+*]\\$$`);
const COUNTED = /\{(\d+)(?:,\d*)?\}/g;
/** Maximum count of a repetition in an unanchored expression, which tries so many characters again at each position. */
const MOST_COUNTED = 49;
/**
 * Pattern of a cut of a text, recognized by its number or by the name of its constant. Constants for cuts of lists have
 * other names.
 */
const CUT = /\.slice\(0, (?:(\d{2,})|(?:LONGEST\w*|SHOWN|MAX_(?:NAME|SEGMENT|TEXT|LENGTH)\w*)(?: - 1)?)\)/;
const SHORTEST_TEXT = 32;
/** Pattern of code whose texts are ASCII, such as digests and times. */
const ASCII = /digest\(|hash\(|toISOString|hex|random/;

const SQUARE =
  'a pattern that starts again at each repeated character: use withoutTrailing or textBefore of #libs/protocol';
const STEEP = 'a counted repetition over a text: count in a walk, as refuseUnfitText does';
const HALF = 'a text that may be cut through a character: use textStart or briefText';

/** Returns the faults of a line of code, one sentence each. */
export function textFaults(line) {
  if (/^\s*(\/\/|\*|\/\*)/.test(line)) return [];
  const patterns = [...line.matchAll(LITERAL)].map(([, source, flags]) => ({ source, flags }));
  return [
    ...(patterns.some(isSquare) ? [SQUARE] : []),
    ...(patterns.some(isSteep) ? [STEEP] : []),
    ...(isCut(line) ? [HALF] : []),
  ];
}

/**
 * True if an unanchored expression may read the rest of a text again from each of its characters, which takes quadratic
 * time.
 */
function isSquare({ source, flags }) {
  if (flags.includes('y')) return false;
  if (REPEATED_FIRST.test(source)) return true;
  const [, first, repeated] = REPEATED_LAST.exec(source) ?? [];
  return first !== undefined && overlaps(first, repeated);
}

function overlaps(first, repeated) {
  const all = Array.from({ length: 2 ** 16 }, (_, code) => String.fromCharCode(code));
  const [one, other] = [first, repeated].map(
    (atom) => new RegExp(`^${atom}$`, /\\[pP]\{|\\u\{/.test(atom) ? 'su' : 's'),
  );
  return all.some((character) => one.test(character) && other.test(character));
}

function isSteep({ source, flags }) {
  if (source.startsWith('^') || flags.includes('y')) return false;
  return [...source.matchAll(COUNTED)].some(([, least]) => Number(least) > MOST_COUNTED);
}

function isCut(line) {
  const found = CUT.exec(line);
  if (found === null || ASCII.test(line)) return false;
  return found[1] === undefined || Number(found[1]) >= SHORTEST_TEXT;
}

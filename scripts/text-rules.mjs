/**
 * Rules for code that reads texts of others: no pattern whose time grows faster than the text, and no cut through a
 * character. A rule looks at one line, so it knows patterns as they are written, not where a text comes from.
 */
/** One character of a pattern, or what stands for one; escapes such as `\uFFFD` have several letters. */
const ATOM = String.raw`(?:\\u\{[^}]*\}|\\u[\dA-Fa-f]{4}|\\x[\dA-Fa-f]{2}|\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|[^\\[\](){}^$|?*+.]|\.)`;
/** A literal between slashes, where a value may stand. */
const LITERAL = /(?<=[(,=:&|!?\s[{]|^)\/(?![/*])((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+)\/([dgimsuvy]*)/g;
/** Groups may be open before the first character. */
const REPEATED_FIRST = new RegExp(`^(?:\\((?:\\?:|\\?<\\w+>)?)*${ATOM}(?:[+*]|\\{\\d+,\\})\\??(?!\\)*(?:[|?]|$))`);
const REPEATED_LAST = new RegExp(`^(${ATOM})(${ATOM})[+*]\\$$`);
const COUNTED = /\{(\d+)(?:,\d*)?\}/g;
/** A pattern tries so many characters again at each place, at most. */
const MOST_COUNTED = 49;
/** Beginnings of lists are taken by constants that say how many there are; those of texts by how long they are. */
const CUT = /\.slice\(0, (?:(\d{2,})|(?:LONGEST\w*|SHOWN|MAX_(?:NAME|SEGMENT|TEXT|LENGTH)\w*)(?: - 1)?)\)/;
const SHORTEST_TEXT = 32;
/** Digests and times are ASCII. */
const ASCII = /digest\(|hash\(|toISOString|hex|random/;

const SQUARE =
  'a pattern that starts again at each repeated character: use withoutTrailing or textBefore of #libs/protocol';
const STEEP = 'a counted repetition over a text: count in a walk, as refuseUnfitText does';
const HALF = 'a text that may be cut through a character: use textStart or briefText';

/** Returns what is wrong with a line of code, in sentences. */
export function textFaults(line) {
  if (/^\s*(\/\/|\*|\/\*)/.test(line)) return [];
  const patterns = [...line.matchAll(LITERAL)].map(([, source, flags]) => ({ source, flags }));
  return [
    ...(patterns.some(isSquare) ? [SQUARE] : []),
    ...(patterns.some(isSteep) ? [STEEP] : []),
    ...(isCut(line) ? [HALF] : []),
  ];
}

/** True if an unanchored pattern may read the rest of a text again from each of its characters. */
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

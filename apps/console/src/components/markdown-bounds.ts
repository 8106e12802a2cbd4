/** Maximum characters of a text that can be laid out as Markdown without blocking the page. */
const LONGEST = 50_000;
/**
 * Maximum Markdown markers in a text: characters that may start, end or separate something. The layout compares some of
 * them with all earlier markers.
 */
const MOST_MARKS = 5_000;
const MARK = /[*_~`>|[\]<]|[-+.)][ \t]/g;
/** Pattern of a line that opens 20 nested quotes or lists. A far deeper nesting overflows the stack. */
const DEEP = /^(?:[ \t]*(?:>|(?:[*+-]|\d{1,9}[.)])[ \t])){20}/m;
/** Maximum table cells of a text: each line below a table's head counts as wide as the head. */
const MOST_CELLS = 20_000;
/** Pattern of the line that separates a table's head from its rows. */
const BELOW_HEAD = /^[\s|:>+*\d.)-]*$/;

/** True if a text can be laid out as Markdown in negligible time. Its author is not trusted. */
export function isBounded(text: string): boolean {
  if (text.length > LONGEST || DEEP.test(text)) return false;
  return (text.match(MARK)?.length ?? 0) <= MOST_MARKS && countCells(text.split('\n')) <= MOST_CELLS;
}

function countCells(lines: readonly string[]): number {
  const columns = lines.filter((line) => BELOW_HEAD.test(line)).map((line) => line.split('|').length - 1);
  return columns.reduce((widest, it) => Math.max(widest, it), 0) * lines.length;
}

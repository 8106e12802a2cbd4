/** Characters that are laid out as markdown without the page standing still. */
const LONGEST = 50_000;
/** What may begin, end or part something, in all of a text: some of it is compared with all that came before. */
const MOST_MARKS = 5_000;
const MARK = /[*_~`>|[\]<]|[-+.)][ \t]/g;
/** Quotes and lists that one line begins in each other; far more of them overflow the stack. */
const DEEP = /^(?:[ \t]*(?:>|(?:[*+-]|\d{1,9}[.)])[ \t])){20}/m;
/** Cells of the tables that a text may have: each line below a table's head is as wide as that, whatever it says. */
const MOST_CELLS = 20_000;
const BELOW_HEAD = /^[\s|:>+*\d.)-]*$/;

/** Whether a text is laid out as markdown in no time worth mentioning: whoever wrote it is not trusted. */
export function isBounded(text: string): boolean {
  if (text.length > LONGEST || DEEP.test(text)) return false;
  return (text.match(MARK)?.length ?? 0) <= MOST_MARKS && cells(text.split('\n')) <= MOST_CELLS;
}

function cells(lines: readonly string[]): number {
  const columns = lines.filter((line) => BELOW_HEAD.test(line)).map((line) => line.split('|').length - 1);
  return columns.reduce((widest, it) => Math.max(widest, it), 0) * lines.length;
}

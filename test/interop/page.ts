import { type Direction, OPERATIONS, type Outcomes } from './cells.js';
import { type Framework, FRAMEWORKS } from './frameworks.js';

/** Comments around each part of the page that a run writes. */
export const WRITTEN = {
  frameworks: ['<!-- written by npm run interop -->', '<!-- until here -->'],
  peers: ['<!-- peers, written by npm run interop -->', '<!-- peers until here -->'],
} as const;
const NAMES = Object.keys(FRAMEWORKS) as Framework[];

/** docs/INTEROP.md with the tables of these outcomes; all that stands around them stays. */
export function withTables(page: string, outcomes: Outcomes): string {
  return withWritten(page, 'frameworks', tables(outcomes));
}

/** Returns the page with a text between two of its comments. */
export function withWritten(page: string, part: keyof typeof WRITTEN, text: string): string {
  const [first, last] = WRITTEN[part];
  const [begin, end] = [page.indexOf(first), page.indexOf(last)];
  if (begin < 0 || end < begin) throw new Error(`The page has no place for its tables: ${first} … ${last}`);
  return `${page.slice(0, begin)}${first}\n\n${text}\n\n${page.slice(end)}`;
}

function tables(outcomes: Outcomes): string {
  const rows = (direction: Direction): string[][] =>
    NAMES.map((it) => [
      FRAMEWORKS[it].title,
      ...OPERATIONS[direction].map((operation) => outcomes[it][direction][operation] ?? ''),
    ]);
  return [
    tableOf(
      ['', 'tested', 'speaks'],
      NAMES.map((it) => [FRAMEWORKS[it].title, packagesOf(it, outcomes), FRAMEWORKS[it].speaks]),
    ),
    '## Parley calls its agent',
    tableOf(['', ...OPERATIONS.called], rows('called')),
    '## It calls an agent of Parley',
    tableOf(['', ...OPERATIONS.calls], rows('calls')),
  ].join('\n\n');
}

function packagesOf(framework: Framework, outcomes: Outcomes): string {
  return Object.entries(outcomes[framework].packages)
    .map(([name, version]) => `\`${name}\` ${version}`)
    .join(', ');
}

/** As the formatter of this repository writes tables. */
export function tableOf(header: readonly string[], rows: readonly string[][]): string {
  const widths = header.map((it, column) => Math.max(3, it.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((it, column) => it.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

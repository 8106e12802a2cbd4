import type { FactTable, Row } from '../comparison.ts';

/** Returns a Markdown table for each comparison. */
export function comparisonTables(rows: readonly Row[]): string[] {
  return [...Map.groupBy(rows, ({ title }) => title)].flatMap(([title, of]) => [`### ${title}`, comparisonTable(of)]);
}

export function factTables(tables: readonly FactTable[]): string[] {
  return tables.flatMap(({ title, header, rows }) => [
    `### ${title}`,
    table(
      header,
      rows.map((row) => row.map((cell) => (typeof cell === 'number' ? number(cell) : cell))),
    ),
  ]);
}

export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = header.map((_, index) => (index === 0 ? '---' : '---:'));
  return [line(header), line(rule), ...rows.map(line)].join('\n');
}

export function number(value: number | undefined): string {
  if (value === undefined) return '–';
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function comparisonTable(rows: readonly Row[]): string {
  const unit = rows[0]?.unit ?? '';
  const header = [
    'at',
    'subject',
    `${unit}s/s`,
    'Parley is ×',
    'p50 ms',
    'p99 ms',
    `Node µs/${unit}`,
    `PostgreSQL µs/${unit}`,
    `WAL B/${unit}`,
    `commits/${unit}`,
    'RSS MiB',
    `load µs/${unit}`,
  ];
  return table(
    header,
    rows.map(({ connections, subject, measurement: it }) => [
      String(connections),
      subject,
      number(it.perSecond),
      number(timesParley(rows, connections, it.perSecond)),
      number(it.p50),
      number(it.p99),
      number(it.nodeCpu),
      number(it.postgresCpu),
      number(it.walBytes),
      it.commits === undefined ? '–' : it.commits.toFixed(3),
      number(it.residentBytes / 1024 ** 2),
      number(it.loadCpu),
    ]),
  );
}

/** Returns the rate in relation to Parley's in the same comparison. */
function timesParley(rows: readonly Row[], connections: number, perSecond: number): number | undefined {
  const parley = rows.find((row) => row.connections === connections && row.subject.startsWith('Parley'));
  return parley && parley.measurement.perSecond / perSecond;
}

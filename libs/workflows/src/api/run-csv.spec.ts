import { CSV_HEAD, csvLine } from './run-csv.js';
import type { RunSummary } from './run.dto.js';

const RUN: RunSummary = {
  runId: 'r1',
  workflow: 'w',
  status: 'failed',
  contextId: 'c',
  inputs: { a: 'x "y"' },
  error: { kind: 'timeout', node: 'n', message: 'too late' },
  createdAt: '2026-01-31T09:30:00.000Z',
  updatedAt: '2026-01-31T09:30:01.500Z',
};

describe('An export of runs as CSV', () => {
  it('has a line for each run, with all cells quoted', () => {
    expect(CSV_HEAD).toMatch(/^"runId","workflow",.*"inputs","inputTokens","outputTokens","cost"\r\n$/);
    expect(csvLine(RUN)).toBe(
      '"r1","w","","failed","2026-01-31T09:30:00.000Z","2026-01-31T09:30:01.500Z","1500",' +
        '"timeout","n","too late","{""a"":""x \\""y\\""""}","","",""\r\n',
    );
    const sums = { calls: 2, unreportedCalls: 0, unpricedCalls: 0, inputTokens: 5, outputTokens: 7, cost: '0.0012' };
    expect(csvLine({ ...RUN, usage: { ...sums, own: sums, models: [] } })).toMatch(/,"5","7","0.0012"\r\n$/);
    expect(csvLine({ ...RUN, status: 'running' })).toContain('"2026-01-31T09:30:01.500Z","","timeout"');
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠SUM(A1)'])(
    'takes the formula from a cell with %j',
    (message) => {
      expect(csvLine({ ...RUN, error: { kind: 'failed', message } })).toContain(`,"'${message}",`);
    },
  );

  it('cuts a cell that no spreadsheet takes', () => {
    const line = csvLine({ ...RUN, inputs: { a: 'x'.repeat(100_000) } });
    expect(line.length).toBeLessThan(32_767);
    expect(line).toContain('x…"');
  });
});

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const TASKS = join(ROOT, 'libs/tasks/src/journal');
const SHARED = join(TASKS, 'fair-cut.ts');
const CUT = ['libs/tasks/src/journal/fair-cut.spec.ts', 'takes nothing where nothing waits'] as const;
const JOURNAL = [
  'libs/tasks/src/journal/task-journal.spec.ts',
  'has the events of another caller in its next batch',
] as const;

interface FileCoverage {
  fnMap: Record<string, { name: string; decl: { start: { line: number } } }>;
  f: Record<string, number>;
}

type Calls = (file: string, line: string) => number | undefined;

/** Runs tests of files in one worker; gives how often a function was called, by its file and what its line begins with. */
function callsIn(...tests: (readonly [file: string, name: string])[]): Calls {
  const folder = mkdtempSync(join(tmpdir(), 'parley-coverage-'));
  try {
    const names = tests.map(([, name]) => name).join('|');
    const reports = ['--coverage', '--coverageReporters', 'json', '--coverageDirectory', folder];
    const args = [...tests.map(([file]) => file), '-i', '-t', names, ...reports, '--selectProjects', 'unit'];
    const jest = [join(ROOT, 'node_modules/jest/bin/jest.js'), ...args];
    const { status, stderr } = spawnSync(process.execPath, ['--no-warnings', ...jest], { cwd: ROOT, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    const text = readFileSync(join(folder, 'coverage-final.json'), 'utf8');
    const report = JSON.parse(text) as Record<string, FileCoverage>;
    return (file, line) => {
      const { fnMap, f } = report[file]!;
      const found = Object.entries(fnMap).find(([, { decl }]) => decl.start.line === lineOf(file, line));
      return found && f[found[0]];
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function lineOf(file: string, beginning: string): number {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.findIndex((line) => line.trimStart().startsWith(beginning)) + 1;
}

describe('npm run coverage', () => {
  it('tells functions that tests call from those that none does, and adds up what several files call', () => {
    const calls = callsIn(CUT, JOURNAL);
    expect(calls(join(TASKS, 'task-journal.ts'), 'private async rewriteFenced(')).toBe(0);
    const taken = calls(SHARED, 'function takeInOrder(')!;
    expect(taken).toBeGreaterThan(0);
    // One file calls it once more, where nothing waits.
    expect(calls(SHARED, 'export function fairCut(')).toBe(taken + 1);
  });
});

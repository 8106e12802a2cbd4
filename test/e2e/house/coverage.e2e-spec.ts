import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const MEASURED = join(ROOT, 'libs/tasks/src/fair-cut.ts');
const CUT = ['libs/tasks/src/fair-cut.spec.ts', 'takes nothing where nothing waits'] as const;
const JOURNAL = ['libs/tasks/src/task-journal.spec.ts', 'has the events of another caller in its next batch'] as const;

interface FileCoverage {
  fnMap: Record<string, { name: string; decl: { start: { line: number } } }>;
  f: Record<string, number>;
}

/** Runs tests of files in one worker; gives how often each function of `fair-cut.ts` was called, by its line and name. */
function coverageOf(...tests: (readonly [file: string, name: string])[]): Record<string, number> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-coverage-'));
  try {
    const names = tests.map(([, name]) => name).join('|');
    const reports = ['--coverage', '--coverageReporters', 'json', '--coverageDirectory', folder];
    const args = [...tests.map(([file]) => file), '-i', '-t', names, ...reports, '--selectProjects', 'unit'];
    const jest = [join(ROOT, 'node_modules/jest/bin/jest.js'), ...args];
    const { status, stderr } = spawnSync(process.execPath, ['--no-warnings', ...jest], { cwd: ROOT, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    const report = JSON.parse(readFileSync(join(folder, 'coverage-final.json'), 'utf8')) as Record<
      string,
      FileCoverage
    >;
    const { fnMap, f } = report[MEASURED]!;
    return Object.fromEntries(
      Object.entries(fnMap).map(([id, { name, decl }]) => [`${decl.start.line} ${name}`, f[id] ?? 0]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The place of a function, as `coverageOf` has it. */
function place(name: string): string {
  const lines = readFileSync(MEASURED, 'utf8').split('\n');
  return `${lines.findIndex((line) => line.includes(`function ${name}(`)) + 1} ${name}`;
}

describe('npm run coverage', () => {
  it('tells functions that tests call from those that none does, with their lines', () => {
    const calls = coverageOf(CUT);
    expect(calls).toMatchObject({ [place('fairCut')]: 1, [place('take')]: 0, [place('accountIn')]: 0 });
  });

  it('adds up what several files call of one module', () => {
    const calls = coverageOf(CUT, JOURNAL);
    expect([calls[place('fairCut')], calls[place('take')]]).toEqual([expect.any(Number), expect.any(Number)]);
    expect(calls[place('take')]).toBeGreaterThan(0);
    expect(calls[place('fairCut')]).toBe(calls[place('take')]! + 1);
  });
});

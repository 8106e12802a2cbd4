import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const text = readFileSync(resolve(ROOT, 'docs/CONFORMANCE.md'), 'utf8');
const SPEC = /`([\w./*-]+\.(?:cluster-|e2e-)?spec\.ts)`/g;
const specs = globSync(['libs/**/*.spec.ts', 'test/**/*-spec.ts', 'apps/**/*.spec.ts'], { cwd: ROOT });

/** The cells of every row of every table but the heads. */
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (§|letter|-)/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const letters = new Map(
  rows.filter(([letter = '']) => /^[A-Z]{1,2}3?$/.test(letter)).map(([letter, file]) => [letter!, file!]),
);
const demands = rows.filter(([letter = '']) => !letters.has(letter));

function filesIn(cell: string): string[] {
  return [...cell.matchAll(SPEC)].map(([, path]) => path!);
}

/** The letters that a cell cites, outside of brackets and file names. */
function lettersIn(cell: string): string[] {
  return cell
    .replaceAll(/`[^`]*`|\([^)]*\)/g, '')
    .split(/[,:;]/)
    .map((it) => it.trim())
    .filter((it) => /^[A-Z]{1,2}3?$/.test(it));
}

describe('the table of conformance', () => {
  it('is read', () => {
    expect(letters.size).toBeGreaterThan(15);
    expect(demands.length).toBeGreaterThan(90);
  });

  it.each([...letters])('%s stands for tests that there are: %s', (_letter, file) => {
    expect(filesIn(file).length).toBeGreaterThan(0);
    for (const path of filesIn(file)) expect(found(path)).not.toEqual([]);
  });

  it('cites no letter and no file that there is not', () => {
    const cells = demands.map((cells_) => cells_.at(-1) ?? '');
    expect(cells.flatMap(lettersIn).filter((it) => !letters.has(it))).toEqual([]);
    expect(cells.flatMap(filesIn).filter((path) => found(path).length === 0)).toEqual([]);
  });

  it('names a test wherever it says that one shows it', () => {
    const shown = demands.filter((cells_) => cells_.slice(3, -1).includes('✓'));
    const unnamed = shown.filter((cells_) => {
      const cell = cells_.at(-1) ?? '';
      return lettersIn(cell).length === 0 && filesIn(cell).length === 0 && !/VARIABLES|README|ADR/.test(cell);
    });
    expect(unnamed).toEqual([]);
  });

  it('uses every letter', () => {
    const cited = new Set(demands.flatMap((cells_) => lettersIn(cells_.at(-1) ?? '')));
    const elsewhere = text.split('## A2A 0.3')[1] ?? '';
    expect([...letters.keys()].filter((it) => !cited.has(it) && !new RegExp(`\\b${it}\\b`).test(elsewhere))).toEqual(
      [],
    );
  });
});

/** The specs of a path, which may be a name alone or have a star in it. */
function found(path: string): string[] {
  const pattern = new RegExp(`(^|/)${path.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`);
  return specs.filter((spec) => pattern.test(spec));
}

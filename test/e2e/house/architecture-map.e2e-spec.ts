import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const MAP = readFileSync(join(ROOT, 'docs/ARCHITECTURE.md'), 'utf8').split('\n## The map\n')[1]!.split('\n## ')[0]!;
const [walks, changes] = MAP.split('### Where do I change') as [string, string];

/** The functions that the walks name, as `file:function`. */
const functions = [...walks.matchAll(/^- `([^:`]+):(\w+)`/gm)].map(([, file, name]) => [file!, name!] as const);
const places = [...changes.matchAll(/`((?:libs|src|apps)\/[\w./-]+)`/g)].map(([, path]) => path!);

describe('The map in docs/ARCHITECTURE.md', () => {
  it('has three walks and ten changes', () => {
    expect(walks.match(/^### /gm)).toHaveLength(3);
    expect(changes.match(/^\| (?!what|-)/gm)).toHaveLength(10);
    expect(functions.length).toBeGreaterThan(30);
  });

  it.each(functions)('%s has the function %s', (file, name) => {
    const declared = new RegExp(`^(export |  )(?:[\\w* ]+ )?\\*?${name}(?:<[^(]*>)?\\(`, 'm');
    expect(readFileSync(join(ROOT, file), 'utf8')).toMatch(declared);
  });

  it.each(places)('%s is there', (path) => {
    expect(existsSync(join(ROOT, path))).toBe(true);
  });
});

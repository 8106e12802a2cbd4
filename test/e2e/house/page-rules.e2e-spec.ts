import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');
const page = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })].filter((path) => !path.includes('/adr/'));

describe('The documentation', () => {
  it('says where a key comes from on each page that shows one, and shows none in its requests but there', () => {
    const showing = pages.filter((path) => page(path).includes('X-API-Key: $KEY'));
    const unsaid = showing.filter((path) => !/CALLERS\.md/.test(`${path} ${page(path)}`));
    const requests = showing.filter((path) => /^curl .*X-API-Key: \$KEY/m.test(page(path)));
    expect([showing.length > 2, unsaid, requests]).toEqual([true, [], ['docs/CALLERS.md']]);
  });

  it.each(globSync('docs/{start,coming-from}/*.md', { cwd: ROOT }))('spells the command once on %s', (path) => {
    const text = page(path);
    for (const spelling of ['npm run --silent parley --', 'npx --no parley-a2a'])
      expect(text.split(spelling).length - 1).toBeLessThanOrEqual(2);
    const [, ...rest] = text.split(/^```sh run/m);
    expect(rest.join('')).not.toMatch(/npm run --silent parley|npx --no parley-a2a/);
  });

  it('names only what is on the screen, for a reader who builds an agent in the browser', () => {
    const console = globSync('apps/console/src/**/*.{ts,tsx}', { cwd: ROOT }).filter(
      (path) => !path.includes('.spec.'),
    );
    const shown = console.map(page).join('\n');
    const named = [...page('docs/start/browser.md').matchAll(/\*\*([^*]+)\*\*/g)].map(([, word = '']) => word);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((word) => word !== 'bold' && !shown.includes(word))).toEqual([]);
  });

  it('leads with what an operator needs: what to look at, and the variables of a first deploy', () => {
    const headings = (path: string): string[] => [...page(path).matchAll(/^## (.*)$/gm)].map(([, text = '']) => text);
    expect(headings('docs/OPERATIONS.md')[0]).toBe('What to look at first');
    expect(headings('docs/VARIABLES.md')[0]).toMatch(/first deploy/i);
  });

  it.each(['OPERATIONS', 'operations/RUN', 'operations/REPAIR'])('lists every part of %s at its top', (name) => {
    const [top = '', ...parts] = page(`docs/${name}.md`).split(/^## /m);
    const anchors = parts.map((part) => part.split('\n')[0]!.toLowerCase().replaceAll(' ', '-'));
    expect(anchors.filter((anchor) => !top.includes(`(#${anchor})`))).toEqual([]);
  });
});

import { globSync, readFileSync } from 'node:fs';
import { anchorOf, helpTarget } from '../../../apps/console/src/help/help-links.js';

/** Pages that the console has, by the names under which help-pages.ts loads them. */
const PAGES = new Map(
  globSync('docs/{*,start/*,coming-from/*,operations/*,reference/*}.md').map((path) => [
    path.slice('docs/'.length, -'.md'.length),
    readFileSync(path, 'utf8').replaceAll(/^( *)```[\s\S]*?^\1```/gm, ''),
  ]),
);

/** Returns the text of a heading without its Markdown. */
function shownText(heading: string): string {
  return heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
}

describe('the help pages', () => {
  const anchors = new Map(
    [...PAGES].map(([name, text]) => [
      name,
      new Set([...text.matchAll(/^#{2,3} (.*)$/gm)].map(([, heading = '']) => `#${anchorOf(shownText(heading))}`)),
    ]),
  );

  it('have no link to a place that another page lacks', () => {
    const links = [...PAGES].flatMap(([name, text]) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => ({
        name,
        href,
        target: helpTarget(href, name, (it) => PAGES.has(it)),
      })),
    );
    const lacking = links.filter(({ name, target }) => {
      if (target.kind === 'page') return target.hash !== '' && anchors.get(target.name)?.has(target.hash) !== true;
      return target.kind === 'anchor' && anchors.get(name)?.has(target.hash) !== true;
    });
    expect(lacking).toEqual([]);
    expect(links.filter(({ target }) => target.kind === 'page').length).toBeGreaterThan(100);
  });

  it('can all be reached from their contents', () => {
    const reached = new Set(['README']);
    for (const name of reached) {
      for (const [, href = ''] of (PAGES.get(name) ?? '').matchAll(/\]\(([^)\s]+)\)/g)) {
        const target = helpTarget(href, name, (it) => PAGES.has(it));
        if (target.kind === 'page') reached.add(target.name);
      }
    }
    expect([...PAGES.keys()].filter((name) => !reached.has(name))).toEqual([]);
  });
});

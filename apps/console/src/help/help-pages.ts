/** Pages of the documentation, as functions that load their texts, by the paths of their files. */
const FILES = import.meta.glob<string>(
  ['../../../../docs/*.md', '../../../../docs/{start,coming-from,operations,reference}/*.md'],
  {
    query: '?raw',
    import: 'default',
  },
);

const FOLDER = '../../../../docs/';

/** Pages by their names, such as `WORKFLOWS` and `start/agents`. The build contains no other page. */
const PAGES: ReadonlyMap<string, () => Promise<string>> = new Map(
  Object.entries(FILES).map(([path, load]) => [path.slice(FOLDER.length, -'.md'.length), load]),
);

/** Name of the page that lists all other pages. */
export const CONTENTS = 'README';

/** True if the console has a page of this name. */
export function hasHelpPage(name: string): boolean {
  return PAGES.has(name);
}

/** Loads the Markdown of a page. @throws Error if there is no page of this name */
export async function loadHelpPage(name: string): Promise<string> {
  const load = PAGES.get(name);
  if (!load) throw new Error(`There is no help page "${name}".`);
  return load();
}

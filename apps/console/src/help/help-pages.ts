import { requestApi } from '../api/http.js';

/**
 * Addresses of the pages of the documentation, by the paths of their files. The pages are files beside the code of the
 * console: as parts of the code, imports in their examples would look like imports of the code.
 */
const FILES = import.meta.glob<string>(
  ['../../../../docs/*.md', '../../../../docs/{start,coming-from,operations,reference}/*.md'],
  {
    query: '?url&no-inline',
    import: 'default',
    eager: true,
  },
);

const FOLDER = '../../../../docs/';

/** Pages by their names, such as `WORKFLOWS` and `start/agents`. The build contains no other page. */
const PAGES: ReadonlyMap<string, string> = new Map(
  Object.entries(FILES).map(([path, address]) => [path.slice(FOLDER.length, -'.md'.length), address]),
);

/** Name of the page that lists all other pages. */
export const CONTENTS = 'README';

/** True if the console has a page of this name. */
export function hasHelpPage(name: string): boolean {
  return PAGES.has(name);
}

/** Loads the Markdown of a page. @throws Error if there is no page of this name, or the service cannot be reached */
export async function loadHelpPage(name: string): Promise<string> {
  const address = PAGES.get(name);
  if (address === undefined) throw new Error(`There is no help page "${name}".`);
  return (await requestApi('GET', address)).text();
}

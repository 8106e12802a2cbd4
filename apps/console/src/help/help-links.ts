/** Help pages by the beginning of a view's path. The first entry that matches is used. */
const HELP_FOR: readonly (readonly [path: string, page: string])[] = [
  ['/workflows/history', 'REVISIONS'],
  ['/workflows/new', 'WORKFLOWS'],
  ['/workflows/edit', 'WORKFLOWS'],
  ['/workflows', 'start/workflows'],
  ['/overview', 'CONSOLE#overview'],
  ['/runs', 'CONSOLE#runs'],
  ['/schedules', 'SCHEDULES'],
  ['/conversations', 'CONSOLE#conversations-and-brainstorms'],
  ['/brainstorms', 'CONSOLE#conversations-and-brainstorms'],
  ['/agents', 'CONSOLE#agents'],
  ['/tasks', 'CONSOLE#tasks'],
  ['/settings/credentials', 'CREDENTIALS'],
  ['/settings/new-credential', 'CREDENTIALS'],
  ['/settings/mcp-servers', 'MCP-SERVERS'],
  ['/settings/new-mcp-server', 'MCP-SERVERS'],
  ['/settings/agents', 'REGISTERED-AGENTS'],
  ['/settings/new-agent', 'REGISTERED-AGENTS'],
  ['/settings/cards', 'CARDS'],
  ['/settings/keys', 'CALLERS'],
  ['/settings/files', 'FILES'],
  ['/settings', 'MODELS'],
];

/** Returns the help page for a view, with an anchor where the page has more than the view: `CONSOLE#runs`. */
export function helpPageFor(path: string): string {
  return HELP_FOR.find(([start]) => path === start || path.startsWith(`${start}/`))?.[1] ?? 'README';
}

/** Returns the anchor of a heading, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

/** Target of a link in a page: another page, a place of this page, an address, or a file that is not in the console. */
export type HelpTarget =
  | { kind: 'page'; name: string; hash: string }
  | { kind: 'anchor'; hash: string }
  | { kind: 'address'; url: string }
  | { kind: 'file' };

/**
 * Returns the target of a link.
 * @param from name of the page with the link
 * @param isPage true for the name of a page that the console has
 */
export function helpTarget(href: string, from: string, isPage: (name: string) => boolean): HelpTarget {
  if (/^https?:\/\//.test(href)) return { kind: 'address', url: href };
  if (href.startsWith('#')) return { kind: 'anchor', hash: href };
  const { pathname, hash } = new URL(href, `http://docs/${from}`);
  const name = pathname.slice(1).replace(/\.md$/, '');
  return pathname.endsWith('.md') && isPage(name) ? { kind: 'page', name, hash } : { kind: 'file' };
}

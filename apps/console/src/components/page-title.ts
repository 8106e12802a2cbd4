import { useEffect } from 'react';

/** Parts of the tab's title: the number of waiting questions, and the title of the page. */
const shown = { count: '', page: 'Parley' };

function writeTitle(part: Partial<typeof shown>): void {
  Object.assign(shown, part);
  document.title = shown.count === '' ? shown.page : `(${shown.count}) ${shown.page}`;
}

/** Sets the title of the tab to the given words, the most specific one first, followed by "Parley". */
export function usePageTitle(words: readonly (string | undefined)[]): void {
  const page = [...words.filter((word) => word !== undefined && word !== ''), 'Parley'].join(' · ');
  useEffect(() => writeTitle({ page }), [page]);
}

/** Puts the number of waiting questions in front of the tab's title; an empty text for none. */
export function useTitleCount(count: string): void {
  useEffect(() => writeTitle({ count }), [count]);
}

/** Returns the end of an id: ids begin with the time, so only their ends differ clearly. */
export function shortId(id: string): string {
  return id.slice(-8);
}

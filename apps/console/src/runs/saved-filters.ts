import { useSyncExternalStore } from 'react';

const NAME = 'parley.runFilters';
/** Maximum number of filters that this browser keeps. */
const MOST_SAVED = 50;

/** Filter of the list of runs that a person saved under a name. */
export interface SavedFilter {
  name: string;
  /** Query string of the page's address that sets the filter. */
  query: string;
}

const listeners = new Set<() => void>();
let known: { text: string | null; filters: readonly SavedFilter[] } = { text: null, filters: [] };

/** Returns the saved filters of this browser, by name. */
export function useSavedFilters(): readonly SavedFilter[] {
  return useSyncExternalStore(subscribe, readSaved);
}

/** Saves a filter. A filter of the same name is replaced. */
export function saveFilter(filter: SavedFilter): void {
  const others = readSaved().filter(({ name }) => name !== filter.name);
  writeSaved([...others, filter].toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, MOST_SAVED));
}

export function deleteFilter(name: string): void {
  writeSaved(readSaved().filter((it) => it.name !== name));
}

function writeSaved(filters: readonly SavedFilter[]): void {
  localStorage.setItem(NAME, JSON.stringify(filters));
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Other tabs save filters, too.
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}

function readSaved(): readonly SavedFilter[] {
  const text = localStorage.getItem(NAME);
  if (text !== known.text) known = { text, filters: parseSaved(text) };
  return known.filters;
}

function parseSaved(text: string | null): SavedFilter[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter(isSavedFilter) : [];
  } catch {
    return [];
  }
}

function isSavedFilter(value: unknown): value is SavedFilter {
  const { name, query } = (value ?? {}) as Partial<SavedFilter>;
  return typeof name === 'string' && typeof query === 'string';
}

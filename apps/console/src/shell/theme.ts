import { useSyncExternalStore } from 'react';
import { followMedia } from '../components/media-query.js';

export type Theme = 'light' | 'dark' | 'system';

const NAME = 'parley.theme';
const listeners = new Set<() => void>();
const systemDark = followMedia('(prefers-color-scheme: dark)');

systemDark.subscribe(applyTheme);

/** Returns the chosen color theme, and whether the page is dark now. */
export function useTheme(): { theme: Theme; dark: boolean } {
  const theme = useSyncExternalStore(subscribeToTheme, getChosenTheme);
  const dark = useSyncExternalStore(subscribeToTheme, isDark);
  return { theme, dark };
}

/** Applies a theme and keeps it in local storage for the next visit. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(NAME, theme);
  applyTheme();
}

function applyTheme(): void {
  document.documentElement.classList.toggle('dark', isDark());
  for (const listener of listeners) listener();
}

function getChosenTheme(): Theme {
  const kept = localStorage.getItem(NAME);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

function isDark(): boolean {
  const theme = getChosenTheme();
  return theme === 'dark' || (theme === 'system' && systemDark.matches());
}

function subscribeToTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

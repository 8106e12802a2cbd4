import { useSyncExternalStore } from 'react';

/** Name in local storage of the remote agents that the person added, as URLs. */

const NAME = 'parley.remote-agents';
const listeners = new Set<() => void>();
let kept = read();

addEventListener('storage', ({ key }) => {
  if (key === NAME) change(read());
});

export function useKnownAgents(): readonly string[] {
  return useSyncExternalStore(subscribe, () => kept);
}

export function rememberAgent(url: string): void {
  if (!kept.includes(url)) keep([...kept, url]);
}

export function forgetAgent(url: string): void {
  keep(kept.filter((it) => it !== url));
}

function keep(urls: readonly string[]): void {
  localStorage.setItem(NAME, JSON.stringify(urls));
  change(urls);
}

function change(urls: readonly string[]): void {
  kept = urls;
  for (const listener of listeners) listener();
}

function read(): readonly string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    return Array.isArray(value) ? value.filter((it) => typeof it === 'string') : [];
  } catch {
    return [];
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

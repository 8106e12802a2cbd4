import { useSyncExternalStore } from 'react';

/** Name in local storage of the remote agents that the person added, as URLs. */

const NAME = 'parley.remote-agents';
const listeners = new Set<() => void>();
let kept = readStoredAgents();

addEventListener('storage', ({ key }) => {
  if (key === NAME) publishAgents(readStoredAgents());
});

export function useKnownAgents(): readonly string[] {
  return useSyncExternalStore(subscribeToAgents, () => kept);
}

export function rememberAgent(url: string): void {
  if (!kept.includes(url)) storeAgents([...kept, url]);
}

export function forgetAgent(url: string): void {
  storeAgents(kept.filter((it) => it !== url));
}

function storeAgents(urls: readonly string[]): void {
  localStorage.setItem(NAME, JSON.stringify(urls));
  publishAgents(urls);
}

function publishAgents(urls: readonly string[]): void {
  kept = urls;
  for (const listener of listeners) listener();
}

function readStoredAgents(): readonly string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    return Array.isArray(value) ? value.filter((it) => typeof it === 'string') : [];
  } catch {
    return [];
  }
}

function subscribeToAgents(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

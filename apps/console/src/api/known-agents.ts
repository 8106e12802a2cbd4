import { useQuery } from '@tanstack/react-query';
import { queries } from './queries.js';

/** Name in local storage of the remote agents that the person added, as URLs. */
const NAME = 'parley.remote-agents';
const queryKey = [NAME];

addEventListener('storage', ({ key }) => {
  if (key === NAME) void queries.invalidateQueries({ queryKey });
});

export function useKnownAgents(): readonly string[] {
  return useQuery({ queryKey, queryFn: readStoredAgents, initialData: readStoredAgents }).data;
}

export function rememberAgent(url: string): void {
  const kept = readStoredAgents();
  if (!kept.includes(url)) storeAgents([...kept, url]);
}

export function forgetAgent(url: string): void {
  storeAgents(readStoredAgents().filter((it) => it !== url));
}

function storeAgents(urls: readonly string[]): void {
  localStorage.setItem(NAME, JSON.stringify(urls));
  void queries.invalidateQueries({ queryKey });
}

function readStoredAgents(): readonly string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    return Array.isArray(value) ? value.filter((it) => typeof it === 'string') : [];
  } catch {
    return [];
  }
}
